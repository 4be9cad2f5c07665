// What a plan is asked for, and what a client is shown of paths.
#include "runtime/serve/plan_query.h"

#include <gtest/gtest.h>

#include "runtime/serve/hidden_paths.h"
#include "runtime/serve/route.h"

namespace radl::serve {
namespace {

TEST(PlanQuery, SurvivesSavingAndLoading) {
  const Json body = {{"command", "scale"},  {"files", {"a/b.radl"}}, {"module_path", {"."}},
                     {"targets", {"x[0]"}}, {"replace", {"x[1]"}},   {"on_error", "retry"},
                     {"cloud", "ec2"},      {"refresh", true},       {"max_cost", "2"},
                     {"parallelism", 3},    {"lock_timeout", 1.5},   {"system", "x"},
                     {"relative", true},    {"count", -1},           {"without", {2}},
                     {"exactly", {0, 1}},   {"keep", true}};
  auto query = plan_query_from(body);
  ASSERT_TRUE(query.ok()) << query.status().text();
  const Json kept = to_json(*query);
  for (const auto& [name, value] : body.items()) EXPECT_EQ(kept.value(name, Json()), value) << name;
  auto again = plan_query_from(kept);
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(to_json(*again), kept);
}

TEST(PlanQuery, RefusesWhatItCannotHave) {
  for (const char* text :
       {R"({"command": "run"})", R"({"files": ["../a"]})", R"({"files": ["/a"]})", R"({"files": "a.radl"})",
        R"({"targets": [1]})", R"({"on_error": "x"})", R"({"parallelism": 0})", R"({"lock_timeout": -1})",
        R"({"refresh": 1})", R"({"view": "pdf"})", R"({"command": "scale"})", R"({"max_cost": 2})",
        R"({"module_path": ["a/../b"]})", R"({"program": "x", "files": ["a"]})",
        R"({"command": "scale", "system": "x", "count": 0.5})",
        R"({"command": "scale", "system": "x", "count": -1})",
        R"({"command": "scale", "system": "x", "without": [-1]})"})
    EXPECT_EQ(plan_query_from(Json::parse(text)).status().code(), Code::Invalid) << text;
}

TEST(UploadPath, IsBelowTheFolder) {
  for (const char* path : {"a", "a/b", ".radlignore", "a/.b/c", "a b/\u00e4"})
    EXPECT_TRUE(is_upload_path(path)) << path;
  for (const char* path : {"", "/a", "a/", "a//b", ".", "..", "a/../b", "a\\b", "a.part", "a/b.part", "a\n"})
    EXPECT_FALSE(is_upload_path(path)) << path;
  EXPECT_FALSE(is_upload_path(std::string(300, 'a')));
}

TEST(HiddenPaths, ShowFilesAsTheClientKnowsThem) {
  const HiddenPaths paths("/srv/radlc");
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"/srv/radlc/workspaces/ab12/files/sub/one.radl:3: no", "sub/one.radl:3: no"},
           {"/srv/radlc/workspaces/ab12/program.radl:1", "program.radl:1"},
           {"no state in /srv/radlc/workspaces/ab12/state", "no state in state"},
           {"/srv/radlc/workspaces/ab12: full", "ab12: full"},
           {R"(["/srv/radlc/infrastructures/x-1/next.radl"])", R"(["next.radl"])"},
           {"'/srv/radlc/users/ana/.ssh', /srv/radlc/token", "'users/ana/.ssh', token"},
           {"/srv/radlc2/workspaces/a, /srv/radlc", "/srv/radlc2/workspaces/a, "}})
    EXPECT_EQ(paths.hide(text), shown);
}

TEST(Route, GivesWhatItsBracesHold) {
  EXPECT_EQ(path_parameters("/runs/{run}/stop", {"runs", "a-1", "stop"}), std::vector<std::string>({"a-1"}));
  EXPECT_EQ(path_parameters("/x/{id}/files/{path}", {"x", "1", "files", "a", "b"}),
            std::vector<std::string>({"1", "a/b"}));
  EXPECT_FALSE(path_parameters("/x/{id}/files/{path}", {"x", "1", "files"}));
  EXPECT_FALSE(path_parameters("/x/{id}", {"x", "1", "y"}));
}

}  // namespace
}  // namespace radl::serve

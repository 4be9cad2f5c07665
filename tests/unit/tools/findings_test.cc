// Checking files and folders, -W, and the forms of a report.
#include "tools/findings/findings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <tuple>

#include "common/files.h"
#include "compiler/compile.h"
#include "tests/support/paths.h"

namespace radl {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class Check : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / "radl-check";
    fs::remove_all(folder_);
    fs::create_directories(folder_ / "sub/.hidden");
    write("good.radl",
          "network n (outbound = 'yes')\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n");
    write("sub/bad.radl",
          "network n (outbound = 'yes')\nsystem a (net_interface.0.connection = 'm')\ndeploy b 1\n");
    write("sub/.hidden/no.radl", "(((");
    // `unused` is never deployed: a warning.
    write("warn.radl", "system a ()\nsystem unused ()\ndeploy a 1\n");
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic((folder_ / name).string(), text).ok());
  }
  std::string path(const std::string& name) { return (folder_ / name).string(); }
  FindingsReport run(std::vector<std::string> paths, std::vector<std::string> warnings = {}) {
    FindingsRequest request;
    request.paths = std::move(paths);
    request.warnings = std::move(warnings);
    auto report = findings_of(request);
    EXPECT_TRUE(report.ok()) << report.status().text();
    return report.ok() ? std::move(*report) : FindingsReport{};
  }

  fs::path folder_;
};

TEST_F(Check, FoldersAreSearched) {
  auto files = expand_paths({folder_.string()});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, (std::vector<std::string>{path("good.radl"), path("sub/bad.radl"), path("warn.radl")}));
  EXPECT_EQ(expand_paths({path("sub/.hidden/none")})->size(), 1u) << "a file is taken as it is";
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(expand_paths({path("empty")}).status().code(), Code::NotFound);
}

// A pipe in a folder would be waited for without end.
TEST_F(Check, PipesInFoldersAreLeftAlone) {
  ASSERT_EQ(::mkfifo(path("pipe.radl").c_str(), 0600), 0);
  fs::create_symlink(path("pipe.radl"), path("linked.radl"));
  auto files = expand_paths({folder_.string()});
  ASSERT_TRUE(files.ok());
  EXPECT_EQ(*files, (std::vector<std::string>{path("good.radl"), path("sub/bad.radl"), path("warn.radl")}));
}

// `radlc check <(command)`
TEST_F(Check, APipeOfTheShellIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::thread writer([&] {
    const std::string text = "system a ()\ndeploy b 1\n";
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::close(ends[1]);
  });
  FindingsReport report = run({"/dev/fd/" + std::to_string(ends[0])});
  writer.join();
  ::close(ends[0]);
  ASSERT_EQ(report.errors(), 1u);
  EXPECT_NE(render_text(report, {}).find("`b`"), std::string::npos) << render_text(report, {});
}

// Nobody may be writing to it: then it would be waited for without end.
TEST_F(Check, APipeWithANameIsRefused) {
  ASSERT_EQ(::mkfifo(path("named").c_str(), 0600), 0);
  FindingsReport report = run({path("named")});
  ASSERT_EQ(report.errors(), 1u);
  EXPECT_NE(render_text(report, {}).find("is a named pipe and no regular file"), std::string::npos);
}

// Parts of a cluster that are checked one by one: each names what the other defines.
TEST_F(Check, FilesThatFitTogetherAreRecognised) {
  write("nodes.radl", "network n ()\nsystem a (net_interface.0.connection = 'n')\ndeploy a 1\n");
  write("more.radl", "system b (net_interface.0.connection = 'n')\ndeploy b 1\n");
  FindingsReport alone = run({path("more.radl")});
  EXPECT_EQ(alone.errors(), 1u);
  EXPECT_FALSE(alone.fit_together);
  FindingsReport both = run({path("nodes.radl"), path("more.radl")});
  EXPECT_EQ(both.errors(), 1u) << "each file is still a document of its own";
  EXPECT_TRUE(both.fit_together);
  EXPECT_FALSE(run({path("nodes.radl"), path("sub/bad.radl")}).fit_together);
}

TEST_F(Check, EveryMistakeOfEveryFile) {
  FindingsReport report = run({folder_.string()});
  EXPECT_EQ(report.documents.size(), 3u);
  EXPECT_EQ(report.errors(), 2u);
  EXPECT_GE(report.warnings(), 1u);
  std::string text = render_text(report, {});
  EXPECT_NE(text.find("bad.radl:2:"), std::string::npos) << text;
  EXPECT_NE(text.find("bad.radl:3:"), std::string::npos) << text;
  EXPECT_EQ(summary(report).rfind("3 files: 2 errors", 0), 0u) << summary(report);
  EXPECT_EQ(summary(run({path("good.radl")})), "1 file: no findings");
}

TEST_F(Check, AFileThatIsNotThereIsAFinding) {
  FindingsReport report = run({path("none.radl"), path("good.radl")});
  EXPECT_EQ(report.errors(), 1u);
}

TEST_F(Check, WarningsCanBeChosen) {
  FindingsReport plain = run({path("warn.radl")});
  ASSERT_EQ(plain.errors(), 0u);
  ASSERT_GE(plain.warnings(), 1u);
  std::string id(code_info(plain.documents[0]->diagnostics.all()[0].code).id);
  size_t others = plain.warnings();
  for (const Diagnostic& each : plain.documents[0]->diagnostics.all()) {
    if (code_info(each.code).id == id) --others;
  }
  EXPECT_EQ(run({path("warn.radl")}, {"no-" + id}).warnings(), others);
  EXPECT_GE(run({path("warn.radl")}, {"error"}).errors(), 1u);
  EXPECT_GE(run({path("warn.radl")}, {"error=" + id}).errors(), 1u);
  EXPECT_EQ(run({path("warn.radl")}, {"error=" + id, "no-error=" + id}).errors(), 0u);
  EXPECT_EQ(run({path("warn.radl")}, {"none"}).warnings(), 0u);
  EXPECT_EQ(run({path("warn.radl")}, {"none", id}).warnings(), plain.warnings() - others);
}

TEST_F(Check, WrongOptionsAreRefused) {
  for (const char* wrong : {"no-W9999", "E0101", "no-E0101", "nonsense", ""}) {
    FindingsRequest request;
    request.paths = {path("good.radl")};
    request.warnings = {wrong};
    EXPECT_EQ(findings_of(request).status().code(), Code::Invalid) << wrong;
  }
}

TEST_F(Check, Json) {
  Json json = Json::parse(render_json(run({folder_.string()})));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["errors"], 2);
  std::vector<int> lines;
  for (const Json& each : json["diagnostics"]) {
    if (each["severity"] == "error") lines.push_back(each["line"]);
  }
  EXPECT_EQ(lines, (std::vector<int>{2, 3}));
}

TEST_F(Check, Sarif) {
  Json json = Json::parse(render_sarif(run({folder_.string()}), "1.2"));
  EXPECT_EQ(json["version"], "2.1.0");
  const Json& run_of = json["runs"][0];
  EXPECT_EQ(run_of["tool"]["driver"]["version"], "1.2");
  ASSERT_GE(run_of["results"].size(), 3u);
  for (const Json& result : run_of["results"]) {
    const Json& rule = run_of["tool"]["driver"]["rules"][result["ruleIndex"].get<size_t>()];
    EXPECT_EQ(rule["id"], result["ruleId"]);
    const Json& place = result["locations"][0]["physicalLocation"];
    EXPECT_TRUE(place["artifactLocation"]["uri"].is_string());
    EXPECT_GE(place["region"]["startLine"], 1);
  }
}

TEST_F(Check, WorkflowCommands) {
  write("percent.radl", "system a (cpu.count = 'x%,:\n')\n");
  std::string text = render_github(run({path("sub/bad.radl"), path("percent.radl")}));
  EXPECT_NE(text.find("::error file="), std::string::npos);
  EXPECT_NE(text.find(",line=2,col="), std::string::npos) << text;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) EXPECT_EQ(text.substr(at, 2), "::");
}

}  // namespace
}  // namespace radl

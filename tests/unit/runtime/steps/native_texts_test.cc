// What stands in a resource's strings is text: no shell runs any of it, and no program takes it for an
// option.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "common/digest.h"
#include "compiler/resources/resource_schema.h"
#include "runtime/steps/native_runner.h"
#include "tests/support/faulty_remote.h"
#include "tests/support/temporary_folder.h"

namespace radl {
namespace {

struct NativeTextsTest : testing::Test {
  void SetUp() override {
    std::filesystem::create_directories(home);
    std::filesystem::create_directories(outside);
    ASSERT_TRUE(write_file_atomic(folder.path("source"), "content").ok());
    context.secrets = &secrets;
    handle.address = "worker[0]";
    handle.attributes = ir::Json::object();
    handle.connect = [this]() -> Result<Remote*> { return &machine; };
  }

  // What a user would write, so that one property at a time can be another.
  ir::Json properties(std::string_view type) const {
    if (type == "file") return {{"content", "x"}};
    if (type == "upload") return {{"source", folder.path("source")}};
    if (type == "download")
      return {{"url", "file://" + folder.path("source")}, {"sha256", std::string(64, '0')}};
    if (type == "wait_for") return {{"port", 1}, {"timeout", 0}};
    if (type == "elastic") return {{"system", "worker"}, {"directory", "~/asked"}};
    return ir::Json::object();
  }

  // The error of a plan, else of a run unless only a plan is made.
  Status run(const ir::Resource& resource, bool plan_alone = false) {
    ir::Step step;
    step.id = "worker[0]/tools";
    step.recipe = "tools";
    step.digest = "1";
    step.resources = {resource};
    StepContext of;
    of.context = &context;
    auto seen = runner->observe(of, step, {handle});
    if (plan_alone) return seen ? Status() : seen.status();
    auto done = runner->run(of, step, {handle});
    return done ? Status() : done.status();
  }

  Status run(const std::string& type, const std::string& property, const ir::Json& value) {
    ir::Resource resource{type, type == "command" ? "true" : "~/thing", properties(type), {}};
    if (property.empty())
      resource.name = value.get<std::string>();
    else
      resource.properties[property] = value;
    return run(resource, type == "wait_for");  // which looks as it waits
  }

  test::TemporaryFolder folder;
  std::string home = folder.path("home"), outside = folder.path("outside");
  test::ProcessRemote machine{home};
  ir::Secrets secrets;
  Context context{.environment = environment_of_process()};
  NodeHandle handle;
  std::unique_ptr<StepRunner> runner = make_native_runner();
};

TEST_F(NativeTextsTest, NoShellRunsAnyOfThem) {
  const std::string touch = "touch " + outside + "/made";
  const std::vector<std::string> texts = {
      "a'; " + touch + "; ' \"; " + touch + "; \" b", "$(" + touch + ") `" + touch + "`",
      "a; " + touch + " & " + touch + " | " + touch + " > " + outside + "/made", "a\n" + touch + "\n#"};
  // Whose string is a command, and a file's content, which is data.
  const std::set<std::string> commands = {"command.unless", "wait_for.command", "elastic.wanted",
                                          "elastic.drain", "file.content"};
  size_t tried = 0;
  for (const char* name : {"file", "directory", "download", "upload", "wait_for", "command", "elastic"}) {
    const ir::ResourceType& type = *ir::find_resource_type(name);
    for (const ir::Property& property : type.properties) {
      const std::string called(property.name);
      const bool list = property.type == ir::PropertyType::List, map = property.type == ir::PropertyType::Map;
      const bool text =
          property.type == ir::PropertyType::String || property.type == ir::PropertyType::RemotePath;
      if ((!text && !list && !map) || !property.one_of.empty() ||
          commands.contains(type.name.data() + ("." + called)))
        continue;
      for (const std::string& one : texts) {
        (void)run(name, called,
                  list  ? ir::Json{one}
                  : map ? ir::Json{{"A", one}, {one, "b"}}
                        : ir::Json(one));
        EXPECT_TRUE(std::filesystem::is_empty(outside)) << name << "." << called << " = " << one;
        ++tried;
      }
    }
    for (const std::string& one : texts) {
      if (type.name_is_path) (void)run(name, "", "~/" + one);
      EXPECT_TRUE(std::filesystem::is_empty(outside)) << name << " " << one;
    }
  }
  EXPECT_GT(tried, 60u);
}

// Each of these was taken: for an option that ends well (`curl --help`), or for more than was meant.
TEST_F(NativeTextsTest, NoProgramTakesThemForOptions) {
  struct Case {
    const char *type, *property;
    ir::Json value;
  };
  for (const Case& one : std::vector<Case>{{"file", "owner", "--reference=/etc/shadow"},
                                           {"file", "owner", "root:root"},
                                           {"file", "group", "--help"},
                                           {"directory", "owner", "-h"},
                                           {"upload", "group", "--version"},
                                           {"download", "sha256", "a; touch made"},
                                           {"download", "sha256", std::string(63, '0')},
                                           {"download", "url", "--version"},
                                           {"download", "url", "/etc/passwd"},
                                           {"wait_for", "url", "--help"},
                                           {"wait_for", "host", "-h"},
                                           {"wait_for", "host", "a b"},
                                           {"mount", "device", "--help"},
                                           {"user", "groups", {"good", "-bad"}},
                                           {"package", "version", "1 -o x"}}) {
    const Status failed = run(one.type, one.property, one.value);
    EXPECT_EQ(failed.code(), Code::Invalid) << one.type << "." << one.property;
    EXPECT_NE(failed.message().find("cannot stand here"), std::string::npos) << failed.text();
  }
}

TEST_F(NativeTextsTest, NeitherTheRootNorTheHomeIsRemovedHoweverItIsWritten) {
  for (const char* name :
       {"/", "//", "/.", "/usr/..", "/../", "~", "~/", "~//", "~/.", "~/x/..", "~/..", "~/../.."}) {
    const Status failed = run({"directory", name, ir::Json{{"state", "absent"}}, {}}, true);
    EXPECT_NE(failed.message().find("is not removed"), std::string::npos) << name << ": " << failed.text();
  }
}

TEST_F(NativeTextsTest, BracesOfAnAddressAreNoPattern) {
  ASSERT_TRUE(write_file_atomic(folder.path("{a,b}[1-2]"), "one file").ok());
  EXPECT_TRUE(
      run({"download",
           "~/got",
           ir::Json{{"url", "file://" + folder.path("{a,b}[1-2]")}, {"sha256", sha256_hex("one file")}},
           {}})
          .ok());
}

}  // namespace
}  // namespace radl

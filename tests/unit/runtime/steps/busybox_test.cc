// A job's files on a node that has BusyBox in place of coreutils.
#include <gtest/gtest.h>

#include <filesystem>
#include <optional>

#include "common/shell_quote.h"
#include "runtime/base/local_digest.h"
#include "runtime/steps/jobs/member.h"
#include "runtime/steps/jobs/tree.h"
#include "tests/support/faulty_remote.h"
#include "tests/support/test_nodes.h"

namespace radl::jobs {
namespace {

namespace fs = std::filesystem;
constexpr const char* kBusyBox = "/bin/busybox";

// This machine, where every command is run by BusyBox's shell and finds BusyBox's programs alone.
class BusyBoxRemote : public test::ProcessRemote {
 public:
  explicit BusyBoxRemote(const std::string& home) : ProcessRemote(home) {
    auto made =
        ProcessRemote::exec(std::string("mkdir -p ~/applets && ") + kBusyBox + " --install -s ~/applets", {});
    EXPECT_TRUE(made.ok() && made->exit_status == 0);
  }
  Result<ExecResult> exec(const std::string& command, const ExecOptions& options) override {
    return ProcessRemote::exec(
        std::string("PATH=\"$HOME\"/applets exec ") + kBusyBox + " sh -c " + shell_quote(command), options);
  }
};

struct BusyBoxTest : testing::Test {
  void SetUp() override {
    if (!fs::exists(kBusyBox)) GTEST_SKIP() << "/bin/busybox is missing: install busybox-static";
    fs::create_directories(home);
    remote.emplace(home);
    node.address = "worker[0]";
    node.attributes = Json::object();
    node.connect = [this]() -> Result<Remote*> { return &*remote; };
    context.work_directory = folder.path("work");
  }
  void write(const std::string& name, const std::string& text) {
    fs::create_directories(source);
    ASSERT_TRUE(write_file_atomic(source + "/" + name, text).ok());
  }
  std::string content(const std::string& below) const {
    auto text = read_file(home + "/.radl/jobs/t/" + below);
    return text ? *text : "(none)";
  }

  test::TemporaryFolder folder{test::TemporaryFolder::Place::Disk};
  const std::string home = folder.path("home"), source = folder.path("source");
  std::optional<BusyBoxRemote> remote;
  NodeHandle node;
  Context context{.environment = environment_of_process()};
};

TEST_F(BusyBoxTest, FilesThatComeInOneCommandAreAllWhole) {
  Member member(node, context, "t");
  member.clear_soon("run-*", "");
  const std::string large(70000, 'x'), binary("\0\n\xff", 3);
  member.put_soon("the run", "run.json", 0600);
  member.put_soon(large, "places", 0600);
  member.put_soon("", "empty", 0600);
  member.put_soon(binary, "run-member-0", 0640);
  auto look = member.look();
  ASSERT_TRUE(look.ok()) << look.status().text();
  EXPECT_EQ(look->run, "the run");
  EXPECT_EQ(content("places"), large);
  EXPECT_EQ(content("empty"), "");
  EXPECT_EQ(content("run-member-0"), binary);
  EXPECT_EQ(fs::status(home + "/.radl/jobs/t/run-member-0").permissions(), fs::perms(0640));
}

TEST_F(BusyBoxTest, ATreeComesWholeAndSoDoesOneThatFollowsIt) {
  write("run.sh", "one");
  write("gone", "old");
  auto placed = [&] {
    const Tree tree{Tree::Kind::Folder, source, *path_digest(source)};
    auto sent = place_tree(node, context, tree);
    EXPECT_TRUE(sent.ok()) << sent.status().text();
    EXPECT_EQ(*path_digest(home + "/" + tree_folder(tree).substr(2)), tree.digest);
  };
  placed();
  write("run.sh", "two");
  fs::remove(source + "/gone");
  placed();
}

}  // namespace
}  // namespace radl::jobs

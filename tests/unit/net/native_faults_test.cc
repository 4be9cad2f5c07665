// What goes wrong on the node while a native step looks or changes: the step has failed, the next plan shows
// the change again, and nothing else was touched.
#include <gtest/gtest.h>

#include "tests/support/native_steps.h"

namespace radl {
namespace {

using test::contains;
using test::StepsFixture;

struct NativeFaultTest : testing::Test, StepsFixture {};

TEST_F(NativeFaultTest, ACommandThatEndsBadlyHasFailedWhateverItMade) {
  add("command", "touch ~/x; exit 3", {{"creates", "~/x"}});
  EXPECT_TRUE(contains(error().message(), "exit status 3"));
}

TEST_F(NativeFaultTest, AnOwnerThatDoesNotExistIsAFailure) {
  std::filesystem::create_directories(nodes.folder.path("tree"));
  ASSERT_TRUE(write_file_atomic(nodes.folder.path("tree/one"), "1").ok());
  ASSERT_TRUE(write_file_atomic(home("there"), "kept").ok());
  for (const char* whose : {"owner", "group"}) {
    for (const ir::Resource& one : std::vector<ir::Resource>{
             {"file", "~/there", {{"content", "x"}}, {}},
             {"directory", "~/folder", Json::object(), {}},
             {"upload", "~/single", {{"source", nodes.folder.path("tree/one")}}, {}},
         }) {
      step.resources = {one};
      step.resources[0].properties[whose] = "radl-nobody";
      EXPECT_TRUE(contains(error().message(), "radl-nobody")) << one.name;
      EXPECT_FALSE(observe().empty()) << one.name << ": the next plan shows it again";
    }
  }
  EXPECT_EQ(*read_file(home("there")), "kept");
}

// What needs a machine of its own.
struct IsolatedFaultTest : testing::Test {
  void SetUp() override {
    test::skip_without_isolation(false);
    if (IsSkipped()) return;
    steps = std::make_unique<StepsFixture>(local::Isolation::Required);
  }
  std::unique_ptr<StepsFixture> steps;
};

TEST_F(IsolatedFaultTest, AUserThatCannotBeMadeLeavesNothing) {
  steps->add("user", "radltest",
             {{"group", "no-such-group"}, {"authorized_keys", {"ssh-ed25519 AAAA test"}}});
  EXPECT_TRUE(contains(steps->error().message(), "no-such-group"));
  EXPECT_EQ(steps->shell("ls -d /.ssh /home/radltest 2>/dev/null; getent passwd radltest"), "");
  EXPECT_FALSE(steps->observe().empty());
}

}  // namespace
}  // namespace radl

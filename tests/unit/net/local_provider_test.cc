// The local provider: made once, found by token, ended to the last process.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "runtime/base/process.h"
#include "runtime/providers/local/isolation.h"
#include "runtime/providers/local/node_directory.h"
#include "runtime/providers/local/node_process.h"
#include "tests/support/test_nodes.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;

class LocalTest : public testing::TestWithParam<local::Isolation> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(nodes.context.work_directory);
    std::string why = local::why_not_isolated(nodes.context.work_directory);
    if (GetParam() == local::Isolation::Required && !why.empty())
      GTEST_SKIP() << "no isolation here: " << why;
  }
  std::string run(const Made& made, const std::string& command) {
    auto remote = ssh::make_remote(*ssh::target_of(made.attributes));
    auto result = remote->exec(command);
    if (!result) return result.status().text();
    return result->out + result->err;
  }
  TestNodes nodes{GetParam()};
};

TEST_P(LocalTest, CreateIsIdempotentAndFoundByToken) {
  Made first = nodes.make("worker[0]");
  Made second = nodes.make("worker[0]");
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(first.attributes, second.attributes);
  auto found = nodes.provider->find(nodes.context, ResourceKind::Node, "token-worker[0]");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_EQ((*found)->id, first.id);
  EXPECT_TRUE((*found)->complete);
  auto nothing = nodes.provider->find(nodes.context, ResourceKind::Node, "another");
  ASSERT_TRUE(nothing.ok());
  EXPECT_FALSE(nothing->has_value());
}

TEST_P(LocalTest, NodesHaveAddressesOfTheirOwnAndPrivateFiles) {
  Made a = nodes.make("worker[0]"), b = nodes.make("worker[1]");
  EXPECT_NE(a.attributes.at("host"), b.attributes.at("host"));
  EXPECT_NE(a.attributes.at("host_key"), b.attributes.at("host_key"));
  for (const auto& entry : std::filesystem::directory_iterator(nodes.context.work_directory + "/nodes")) {
    auto mode = entry.status().permissions();
    EXPECT_EQ(mode & (std::filesystem::perms::group_all | std::filesystem::perms::others_all),
              std::filesystem::perms::none);
  }
  EXPECT_EQ(run(a, "cat > /dev/null; echo ok"), "ok\n");
}

TEST_P(LocalTest, DestroyEndsEveryProcessAlsoDetachedOnes) {
  Made made = nodes.make("worker[0]");
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  run(made,
      "setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 </dev/null & "
      "env -i setsid sleep 601 >/dev/null 2>&1 </dev/null & sleep 0.1; echo started");
  auto pids = local::processes_of(directory);
  EXPECT_GE(pids.size(), 4u);
  ASSERT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, made.id).ok());
  for (int pid : pids) EXPECT_EQ(process_start_time(pid), 0u) << "process " << pid << " is left";
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/nodes"));
  EXPECT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, made.id).ok())
      << "gone already is fine";
  EXPECT_EQ(nodes.provider->read(nodes.context, ResourceKind::Node, made.id).status().code(), Code::NotFound);
}

TEST_P(LocalTest, DestroyFindsWhatAKilledServerLeftBehind) {
  Made made = nodes.make("worker[0]");
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  run(made, "setsid sleep 600 >/dev/null 2>&1 </dev/null & sleep 0.1");
  auto pids = local::processes_of(directory);
  kill(pids.front(), SIGKILL);
  usleep(50000);
  auto list = nodes.provider->list(nodes.context);
  ASSERT_TRUE(list.ok());
  ASSERT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, made.id).ok());
  for (int pid : pids) EXPECT_EQ(process_start_time(pid), 0u) << "process " << pid << " is left";
}

TEST_P(LocalTest, ACreateThatWasCutShortIsFinished) {
  // What a run leaves that is killed right after the record: a folder with it and nothing else.
  local::NodeDirectory directory(nodes.context.work_directory,
                                 local::node_id("worker[0]", "token-worker[0]"));
  Made whole = nodes.make("worker[0]");
  auto record = directory.load();
  ASSERT_TRUE(record.ok());
  ASSERT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, whole.id).ok());
  record->port = 0;
  record->host_key = "";
  ASSERT_TRUE(directory.make().ok() && directory.save(*record).ok());
  auto found = nodes.provider->find(nodes.context, ResourceKind::Node, "token-worker[0]");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_FALSE((*found)->complete);
  Made again = nodes.make("worker[0]");
  EXPECT_EQ(again.id, whole.id);
  EXPECT_EQ(run(again, "echo ok"), "ok\n");
}

TEST_P(LocalTest, ThreeNodesAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { nodes.make("worker[" + std::to_string(i) + "]"); });
  for (auto& thread : threads) thread.join();
  auto all = nodes.provider->list(nodes.context);
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(all->size(), 4u) << "three nodes and the key";
}

INSTANTIATE_TEST_SUITE_P(Isolation, LocalTest,
                         testing::Values(local::Isolation::Off, local::Isolation::Required),
                         [](const auto& info) { return info.param == local::Isolation::Off ? "off" : "on"; });

struct IsolatedTest : LocalTest {};

TEST_P(IsolatedTest, HasHostnameFilesAndProcessesOfItsOwn) {
  Made made = nodes.make("worker[0]");
  EXPECT_EQ(run(made, "hostname"), "worker-0\n");
  std::string name = "/etc/radl-test-" + to_hex(random_bytes(4));
  EXPECT_EQ(run(made, "echo here > " + name + " && cat " + name), "here\n");
  EXPECT_FALSE(std::filesystem::exists(name)) << "the real machine must not change";
  EXPECT_EQ(run(made, "[ $(ls -d /proc/[0-9]* | wc -l) -lt 15 ] && echo few"), "few\n");
  EXPECT_EQ(run(made, "ls " + nodes.context.work_directory + "/nodes"), made.id + "\n")
      << "other nodes are not to be seen";
  EXPECT_EQ(run(made, "ls " + nodes.context.work_directory), "nodes\n");
}

INSTANTIATE_TEST_SUITE_P(Isolation, IsolatedTest, testing::Values(local::Isolation::Required));

TEST(LocalQuote, NamesWhatCannotBeHad) {
  auto provider = local::make_provider({});
  ir::Node node;
  node.address = "w[0]";
  node.wants["disk.0.os.name"].equals = "windows";
  auto quote = provider->quote(node, {});
  ASSERT_FALSE(quote.ok());
  EXPECT_TRUE(contains(quote.status().message(), "disk.0.os.name"));
}

}  // namespace
}  // namespace radl

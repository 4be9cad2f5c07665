// The local provider: made once, found by token, ended to the last process.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

#include "runtime/base/process.h"
#include "runtime/providers/local/isolation.h"
#include "runtime/providers/local/network.h"
#include "runtime/providers/local/node_directory.h"
#include "runtime/providers/local/node_process.h"
#include "tests/support/test_nodes.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;
using test::wait_until;

class LocalTest : public testing::TestWithParam<local::Isolation> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(nodes.context.work_directory);
    if (GetParam() == local::Isolation::Required) test::skip_without_isolation();
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
      "env -i setsid sleep 601 >/dev/null 2>&1 </dev/null & echo started");
  std::vector<int> pids;
  EXPECT_TRUE(wait_until([&] { return (pids = local::processes_of(directory)).size() >= 4; })) << pids.size();
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
  run(made, "setsid sleep 600 >/dev/null 2>&1 </dev/null &");
  std::vector<int> pids;
  ASSERT_TRUE(wait_until([&] { return (pids = local::processes_of(directory)).size() >= 2; }));
  kill(pids.front(), SIGKILL);
  ASSERT_TRUE(wait_until([&] { return process_start_time(pids.front()) == 0; }));
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
  EXPECT_EQ(all->size(), GetParam() == local::Isolation::Off ? 4u : 5u)
      << "three nodes, the key and their network";
}

TEST_P(LocalTest, TwoInfrastructuresAtOnceDoNotMeet) {
  TestNodes other(GetParam());
  std::filesystem::create_directories(other.context.work_directory);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] { (i % 2 ? other : nodes).make("worker[" + std::to_string(i / 2) + "]"); });
  for (auto& thread : threads) thread.join();
  std::set<std::string> places;
  for (TestNodes* one : {&nodes, &other}) {
    auto all = one->provider->list(one->context);
    ASSERT_TRUE(all.ok());
    for (const auto& made : *all) {
      if (made.kind != ResourceKind::Node) continue;
      places.insert(made.attributes.at("host").get<std::string>() + ":" +
                    std::to_string(made.attributes.at("port").get<int>()));
      EXPECT_EQ(run(made, "echo ok"), "ok\n");
    }
  }
  EXPECT_EQ(places.size(), 4u);
}

TEST_P(LocalTest, KeysAreNobodyElsesWhateverTheUmask) {
  mode_t before = umask(0);
  Made made = nodes.make("worker[0]");
  umask(before);
  EXPECT_EQ(run(made, "echo ok"), "ok\n");
  size_t keys = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(
           nodes.context.work_directory, std::filesystem::directory_options::skip_permission_denied)) {
    std::string name = entry.path().filename().string();
    bool secret = name == "id_ed25519" || name == "ssh_host_ed25519_key" || name == "node.json";
    if (!secret || !entry.is_regular_file()) continue;
    ++keys;
    EXPECT_EQ(static_cast<unsigned>(entry.status().permissions()) & 0777, 0600u) << entry.path();
  }
  EXPECT_EQ(keys, 3u);
  struct stat top {};
  ASSERT_EQ(stat(nodes.context.work_directory.c_str(), &top), 0);
  struct stat own {};
  ASSERT_EQ(stat((nodes.context.work_directory + "/nodes/" + made.id).c_str(), &own), 0);
  EXPECT_EQ(own.st_mode & 0777, 0700u);
}

TEST_P(LocalTest, NothingIsWrittenOutsideOfTheWorkFolder) {
  test::TemporaryFolder fake_home, fake_tmp;
  std::string home = getenv("HOME") ? getenv("HOME") : "";
  setenv("HOME", fake_home.path().c_str(), 1);
  setenv("TMPDIR", fake_tmp.path().c_str(), 1);
  Made made = nodes.make("worker[0]");
  EXPECT_EQ(run(made, "touch ~/here; echo ok"), "ok\n");
  EXPECT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, made.id).ok());
  setenv("HOME", home.c_str(), 1);
  unsetenv("TMPDIR");
  EXPECT_TRUE(std::filesystem::is_empty(fake_home.path()));
  EXPECT_TRUE(std::filesystem::is_empty(fake_tmp.path()));
}

TEST(LocalPorts, APortThatIsTakenIsLeftToItsOwner) {
  TestNodes nodes(local::Isolation::Off);
  Made made = nodes.make("worker[0]");
  std::string host = made.attributes.at("host");
  int port = made.attributes.at("port");
  ASSERT_TRUE(local::end_processes({nodes.context.work_directory, made.id}).ok());
  int taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  setsockopt(taken, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  ASSERT_EQ(bind(taken, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(taken, 1), 0);
  Made again = nodes.make("worker[0]");
  EXPECT_NE(again.attributes.at("port").get<int>(), port);
  EXPECT_EQ(again.attributes.at("host_key"), made.attributes.at("host_key"));
  auto result = ssh::make_remote(*ssh::target_of(again.attributes))->exec("echo ok");
  EXPECT_TRUE(result.ok()) << result.status().text();
  close(taken);
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

TEST_P(LocalTest, AFolderWithoutARecordIsFoundAndRemoved) {
  // A run that was killed after the folder was made and before the record, or at the end of a removal.
  local::NodeDirectory directory(nodes.context.work_directory,
                                 local::node_id("worker[0]", "token-worker[0]"));
  ASSERT_TRUE(directory.make().ok());
  auto found = nodes.provider->find(nodes.context, ResourceKind::Node, "token-worker[0]");
  ASSERT_TRUE(found.ok() && found->has_value());
  EXPECT_FALSE((*found)->complete);
  auto listed = nodes.provider->list(nodes.context);
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  ASSERT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, (*found)->id).ok());
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/nodes"));
}

TEST(LocalOptions, AWordThatNobodyKnowsIsAnError) {
  setenv("RADL_LOCAL_NETWORK", "ownn", 1);
  auto provider = local::make_provider();
  unsetenv("RADL_LOCAL_NETWORK");
  auto quote = provider->quote(ir::Node(), {});
  ASSERT_FALSE(quote.ok());
  EXPECT_TRUE(contains(quote.status().message(), "RADL_LOCAL_NETWORK=ownn"));
}

INSTANTIATE_TEST_SUITE_P(Isolation, IsolatedTest, testing::Values(local::Isolation::Required));

TEST(LocalQuote, NamesWhatCannotBeHad) {
  auto provider = local::make_provider({});
  ir::Node node;
  node.address = "w[0]";
  node.requirements["disk.0.os.name"].equals = "windows";
  auto quote = provider->quote(node, {});
  ASSERT_FALSE(quote.ok());
  EXPECT_TRUE(contains(quote.status().message(), "disk.0.os.name"));
}

}  // namespace
}  // namespace radl

// The local provider: made once, found by token, ended to the last process.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <thread>

#include "runtime/base/process.h"
#include "runtime/providers/local/isolation.h"
#include "runtime/providers/local/network.h"
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
    if (why.empty()) why = local::why_no_network(local::Egress::Open);
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
  EXPECT_EQ(all->size(), GetParam() == local::Isolation::Off ? 4u : 5u)
      << "three nodes, the key and their network";
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

TEST_P(IsolatedTest, NodesReachEachOtherAndNotEachOthersLoopback) {
  Made a = nodes.make("worker[0]"), b = nodes.make("worker[1]");
  auto serve = [&](const Made& made, const std::string& address, int port, const std::string& text) {
    run(made, "setsid python3 -c \"import socket\ns = socket.create_server(('" + address + "'," +
                  std::to_string(port) + "))\nwhile 1:\n  c, _ = s.accept()\n  c.sendall(b'" + text +
                  "')\n  c.close()\" >/dev/null 2>&1 </dev/null & sleep 0.3");
  };
  auto ask = [&](const Made& made, const std::string& address, int port) {
    return run(made, "python3 -c \"import socket; print(socket.create_connection(('" + address + "'," +
                         std::to_string(port) + "),3).recv(99).decode())\" 2>&1 | tail -n 1");
  };
  std::string address_a = a.attributes.at("host"), address_b = b.attributes.at("host");
  serve(a, "127.0.0.1", 7001, "private of a");
  serve(a, "0.0.0.0", 7002, "public of a");
  serve(b, "0.0.0.0", 7002, "public of b");
  EXPECT_EQ(ask(a, "127.0.0.1", 7001), "private of a\n");
  EXPECT_TRUE(contains(ask(b, "127.0.0.1", 7001), "Connection refused"));
  EXPECT_TRUE(contains(ask(b, address_a, 7001), "Connection refused"));
  EXPECT_EQ(ask(b, address_a, 7002), "public of a\n");
  EXPECT_EQ(ask(a, address_b, 7002), "public of b\n") << "the same port on two nodes";
  EXPECT_TRUE(contains(run(a, "ls /sys/class/net"), "eth0\nlo\ntap0\n"));
  EXPECT_EQ(a.attributes.at("isolation").back(), "network");
}

TEST_P(IsolatedTest, NothingOfTheMachineIsReachedByTheNodesLoopback) {
  Made made = nodes.make("worker[0]");
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 5), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  for (const char* host : {"127.0.0.1", "10.0.2.2"}) {
    std::string answer =
        run(made, std::string("python3 -c \"import socket; socket.create_connection(('") + host + "'," +
                      std::to_string(ntohs(address.sin_port)) + "),3); print('open')\" 2>&1 | tail -n 1");
    EXPECT_FALSE(contains(answer, "open")) << host;
  }
  close(listener);
}

TEST_P(IsolatedTest, ANodeHasAWayOut) {
  Made made = nodes.make("worker[0]");
  // A server on this machine's own address stands for the world: no other way than tap0 leads there.
  auto ran =
      run_process({.argv = {"sh", "-c", "ip -4 -o address show scope global | grep -v radl- | head -n 1"},
                   .deadline = std::chrono::seconds(5)});
  ASSERT_TRUE(ran.ok());
  std::istringstream words(ran->out);
  std::string skip, cidr;
  words >> skip >> skip >> skip >> cidr;
  if (cidr.empty()) GTEST_SKIP() << "this machine has no address but loopback";
  std::string host = cidr.substr(0, cidr.find('/'));
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  socklen_t size = sizeof address;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 5), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  EXPECT_EQ(run(made, "python3 -c \"import socket; socket.create_connection(('" + host + "'," +
                          std::to_string(ntohs(address.sin_port)) + "),3); print('open')\" 2>&1 | tail -n 1"),
            "open\n");
  EXPECT_TRUE(contains(run(made, "cat /etc/resolv.conf"), "nameserver 10.0.2.3"));
  close(listener);
}

TEST_P(IsolatedTest, DestroyLeavesNoNamespaceAndNoLink) {
  Made a = nodes.make("worker[0]"), b = nodes.make("worker[1]");
  auto network = local::load_network(nodes.context.work_directory);
  ASSERT_TRUE(network.ok() && network->has_value());
  std::string name = (*network)->name;
  EXPECT_TRUE(std::filesystem::exists("/run/netns/" + name));
  EXPECT_TRUE(std::filesystem::exists("/sys/class/net/" + name));
  ASSERT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, a.id).ok());
  EXPECT_TRUE(std::filesystem::exists("/sys/class/net/" + name)) << "the other node still needs it";
  EXPECT_EQ(run(b, "echo ok"), "ok\n");
  ASSERT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, b.id).ok());
  EXPECT_FALSE(std::filesystem::exists("/run/netns/" + name));
  EXPECT_FALSE(std::filesystem::exists("/sys/class/net/" + name));
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/network.json"));
}

TEST_P(IsolatedTest, AfterARebootNodesStartAgainWithTheirAddresses) {
  Made made = nodes.make("worker[0]");
  auto network = local::load_network(nodes.context.work_directory);
  ASSERT_TRUE(network.ok() && network->has_value());
  std::string name = (*network)->name;
  // What a reboot leaves: the folders, and neither processes nor namespaces.
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  ASSERT_TRUE(local::end_processes(directory).ok());
  auto wiped = run_process({.argv = {"sh", "-c", "ip link delete " + name + "; ip netns delete " + name}});
  ASSERT_TRUE(wiped.ok() && wiped->exit_status == 0) << wiped->err;
  EXPECT_EQ(nodes.provider->read(nodes.context, ResourceKind::Node, made.id)->attributes.at("state"),
            "stopped");
  auto after = local::make_provider({local::Isolation::Required});  // another radlc
  auto again =
      after->create(nodes.context, ResourceKind::Node, "worker[0]", Json::object(), "token-worker[0]");
  ASSERT_TRUE(again.ok()) << again.status().text();
  EXPECT_EQ(again->attributes, made.attributes);
  EXPECT_EQ(run(*again, "echo ok"), "ok\n");
}

TEST_P(IsolatedTest, DestroyAfterARebootForgetsTheNetwork) {
  Made made = nodes.make("worker[0]");
  auto network = local::load_network(nodes.context.work_directory);
  ASSERT_TRUE(network.ok() && network->has_value());
  std::string name = (*network)->name;
  ASSERT_TRUE(local::end_processes({nodes.context.work_directory, made.id}).ok());
  (void)run_process({.argv = {"sh", "-c", "ip link delete " + name + "; ip netns delete " + name}});
  EXPECT_TRUE(nodes.provider->destroy(nodes.context, ResourceKind::Node, made.id).ok());
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/network.json"));
}

TEST_P(IsolatedTest, ANetworkThatWasHalfMadeIsMadeWhole) {
  auto network = local::new_network(nodes.context.infrastructure, local::Egress::Open);
  ASSERT_TRUE(network.ok()) << network.status().text();
  ASSERT_TRUE(local::save_network(nodes.context.work_directory, *network).ok());
  // A kill between the file of the namespace and the namespace.
  ASSERT_TRUE(make_directories("/run/netns", 0755).ok());
  ASSERT_TRUE(write_file_atomic("/run/netns/" + network->name, "", 0600).ok());
  auto listed = nodes.provider->list(nodes.context);
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1u);
  EXPECT_EQ(listed->front().kind, ResourceKind::Network) << "what is left can be found and removed";
  EXPECT_EQ(run(nodes.make("worker[0]"), "echo ok"), "ok\n");
}

TEST_P(IsolatedTest, AClosedNetworkHasNoWayOut) {
  auto closed = local::make_provider({local::Isolation::Required, local::NetworkChoice::Closed});
  auto made = closed->create(nodes.context, ResourceKind::Node, "worker[0]", {{"hostname", "w"}}, "t");
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_EQ(run(*made, "ls /sys/class/net; ip route show default"), "eth0\nlo\n");
}

TEST_P(IsolatedTest, TheNetworkCanBeShared) {
  auto shared = local::make_provider({local::Isolation::Required, local::NetworkChoice::Shared});
  auto made = shared->create(nodes.context, ResourceKind::Node, "worker[0]", {{"hostname", "w"}}, "t");
  ASSERT_TRUE(made.ok()) << made.status().text();
  EXPECT_TRUE(made->attributes.at("host").get<std::string>().starts_with("127."));
  EXPECT_EQ(run(*made, "hostname"), "w\n");
  // The infrastructure stays with it: nodes on different networks would not reach each other.
  Made other = nodes.make("worker[1]");
  EXPECT_TRUE(other.attributes.at("host").get<std::string>().starts_with("127."));
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
  node.wants["disk.0.os.name"].equals = "windows";
  auto quote = provider->quote(node, {});
  ASSERT_FALSE(quote.ok());
  EXPECT_TRUE(contains(quote.status().message(), "disk.0.os.name"));
}

}  // namespace
}  // namespace radl

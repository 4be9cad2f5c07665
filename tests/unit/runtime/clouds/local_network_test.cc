// The network of isolated local nodes: namespaces, names, disks; all of it real, and gone at the end.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <sstream>

#include "common/process/process.h"
#include "runtime/clouds/local/hosts_file.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/network.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "tests/support/test_nodes.h"
#include "tests/support/test_target.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;
using test::wait_until;

struct NetworkTest : testing::Test {
  void SetUp() override {
    std::filesystem::create_directories(nodes.context.work_directory);
    test::skip_without_isolation();
  }
  std::string run(const Seen& made, const std::string& command) {
    auto remote = ssh::make_remote(*test::target_of(made.attributes));
    auto result = remote->exec(command);
    if (!result) return result.status().text();
    return result->out + result->err;
  }
  TestNodes nodes{local::Isolation::Required};
};

TEST_F(NetworkTest, NodesReachEachOtherAndNotEachOthersLoopback) {
  Seen a = nodes.make("worker[0]"), b = nodes.make("worker[1]");
  auto serve = [&](const Seen& made, const std::string& address, int port, const std::string& text) {
    run(made,
        "setsid python3 -c \"import socket\ns = socket.create_server(('" + address + "'," +
            std::to_string(port) + "))\nwhile 1:\n  c, _ = s.accept()\n  c.sendall(b'" + text +
            "')\n  c.close()\" >/dev/null 2>&1 </dev/null & for i in $(seq 100); do ss -Hltn | grep -q ':" +
            std::to_string(port) + " ' && break; sleep 0.05; done");
  };
  auto ask = [&](const Seen& made, const std::string& address, int port) {
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

// unshare, slirp4netns and sshd live as long as the node.
TEST_F(NetworkTest, NoProcessOfANodeHasTheOperatorsCredentials) {
  nodes.context.environment = nodes.context.environment.with("AWS_SECRET_ACCESS_KEY", "sentinel-4c1f")
                                  .with("RADL_INPUT_TOKEN", "sentinel-4c1f");
  Seen made = nodes.make("worker[0]");
  std::string names;
  for (int pid : local::processes_of({nodes.context.work_directory, made.id})) {
    const std::string folder = "/proc/" + std::to_string(pid);
    auto name = read_file(folder + "/comm"), variables = read_file(folder + "/environ", 1 << 22);
    if (!name || !variables) continue;
    names += *name;
    EXPECT_EQ(variables->find("sentinel"), std::string::npos) << *name;
  }
  for (const char* program : {"unshare", "slirp4netns", "sshd"}) EXPECT_TRUE(contains(names, program));
  EXPECT_FALSE(contains(run(made, "cat /proc/*/environ"), "sentinel"));
}

TEST_F(NetworkTest, NothingOfTheMachineIsReachedByTheNodesLoopback) {
  Seen made = nodes.make("worker[0]");
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

TEST_F(NetworkTest, ANodeHasAWayOut) {
  Seen made = nodes.make("worker[0]");
  // A server on this computer's own address stands for the world: no other way than tap0 leads there.
  auto ran =
      run_process(environment_of_process(),
                  {.argv = {"sh", "-c", "ip -4 -o address show scope global | grep -v radl- | head -n 1"},
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

TEST_F(NetworkTest, DestroyLeavesNoNamespaceAndNoLink) {
  Seen a = nodes.make("worker[0]"), b = nodes.make("worker[1]");
  auto network = local::load_network(nodes.context.work_directory);
  ASSERT_TRUE(network.ok() && network->has_value());
  std::string name = (*network)->name;
  EXPECT_TRUE(std::filesystem::exists("/run/netns/" + name));
  EXPECT_TRUE(std::filesystem::exists("/sys/class/net/" + name));
  ASSERT_TRUE(nodes.destroyed(a));
  EXPECT_TRUE(std::filesystem::exists("/sys/class/net/" + name)) << "the other node still needs it";
  EXPECT_EQ(run(b, "echo ok"), "ok\n");
  ASSERT_TRUE(nodes.destroyed(b));
  EXPECT_FALSE(std::filesystem::exists("/run/netns/" + name));
  EXPECT_FALSE(std::filesystem::exists("/sys/class/net/" + name));
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/network.json"));
}

TEST_F(NetworkTest, AStoppingNodeLeavesNoProcess) {
  Seen made = nodes.make("worker[0]");
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  const std::vector<int> pids = local::processes_of(directory);
  ASSERT_GE(pids.size(), 2u);
  // As one ends that stops itself: its first process goes, and all that is in its namespaces.
  kill(pids.front(), SIGKILL);
  EXPECT_TRUE(wait_until([&] { return local::processes_of(directory).empty(); }))
      << "its way out to the internet is left";
  EXPECT_EQ(nodes.read(made.id)->attributes.at("state"), "stopped");
}

TEST_F(NetworkTest, AfterARebootNodesStartAgainWithTheirAddresses) {
  Seen made = nodes.make("worker[0]");
  auto network = local::load_network(nodes.context.work_directory);
  ASSERT_TRUE(network.ok() && network->has_value());
  std::string name = (*network)->name;
  // What a reboot leaves: the folders, and neither processes nor namespaces.
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  ASSERT_TRUE(local::end_processes(directory).ok());
  auto wiped = run_process(environment_of_process(),
                           {.argv = {"sh", "-c", "ip link delete " + name + "; ip netns delete " + name}});
  ASSERT_TRUE(wiped.ok() && wiped->exit_status == 0) << wiped->err;
  EXPECT_EQ(nodes.read(made.id)->attributes.at("state"), "stopped");
  auto after = local::make_cloud({local::Isolation::Required});  // another radlc
  Seen again = nodes.make("worker[0]", Json::object(), "token-worker[0]", after.get());
  EXPECT_EQ(again.attributes, made.attributes);
  EXPECT_EQ(run(again, "echo ok"), "ok\n");
}

TEST_F(NetworkTest, DestroyAfterARebootForgetsTheNetwork) {
  Seen made = nodes.make("worker[0]");
  auto network = local::load_network(nodes.context.work_directory);
  ASSERT_TRUE(network.ok() && network->has_value());
  std::string name = (*network)->name;
  ASSERT_TRUE(local::end_processes({nodes.context.work_directory, made.id}).ok());
  (void)run_process(environment_of_process(),
                    {.argv = {"sh", "-c", "ip link delete " + name + "; ip netns delete " + name}});
  EXPECT_TRUE(nodes.destroyed(made));
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/network.json"));
}

TEST_F(NetworkTest, ANetworkThatWasHalfMadeIsMadeWhole) {
  auto network = local::new_network(nodes.context.infrastructure, local::Egress::Open);
  ASSERT_TRUE(network.ok()) << network.status().text();
  ASSERT_TRUE(local::save_network(nodes.context.work_directory, *network).ok());
  // A kill between the file of the namespace and the namespace.
  ASSERT_TRUE(make_directories("/run/netns", 0755).ok());
  ASSERT_TRUE(write_file_atomic("/run/netns/" + network->name, "", 0600).ok());
  std::vector<Seen> listed = nodes.all();
  ASSERT_EQ(listed.size(), 1u);
  EXPECT_EQ(listed.front().type, "network") << "what is left can be found and removed";
  EXPECT_EQ(run(nodes.make("worker[0]"), "echo ok"), "ok\n");
}

TEST_F(NetworkTest, NodesKnowEachOthersNames) {
  auto real = read_file("/etc/hosts");
  Seen a = nodes.make("worker[0]");
  Seen b = nodes.make("front[0]", {{"hostname", "front.example.org"}, {"names", {"gate.example.org"}}},
                      "token-front");
  std::string address_a = a.attributes.at("host"), address_b = b.attributes.at("host");
  EXPECT_EQ(
      run(a,
          "getent ahostsv4 front | head -n 1 | cut -d' ' -f1; getent ahostsv4 gate.example.org | head -n 1 | "
          "cut -d' ' -f1"),
      address_b + "\n" + address_b + "\n");
  EXPECT_EQ(run(b, "getent ahostsv4 worker-0 | head -n 1 | cut -d' ' -f1"), address_a + "\n");
  run(a, "echo '10.9.9.9 mine' >> /etc/hosts");
  ASSERT_TRUE(nodes.destroyed(b));
  EXPECT_EQ(run(a, "grep -c front /etc/hosts; grep -c mine /etc/hosts"), "0\n1\n")
      << "what a recipe wrote stays";
  EXPECT_EQ(*read_file("/etc/hosts"), *real) << "this computer's own must not change";
}

TEST(HostsFile, ALinkOfTheNodeLeadsNowhereOutside) {
  test::TemporaryFolder root, outside;
  std::filesystem::create_directory_symlink(outside.path(), root.path("etc"));
  EXPECT_FALSE(local::update_hosts_file(root.path(), "10.0.0.1 a\n").ok());
  EXPECT_TRUE(std::filesystem::is_empty(outside.path()));
  std::filesystem::remove(root.path("etc"));
  std::filesystem::create_directories(root.path("etc"));
  ASSERT_TRUE(write_file_atomic(outside.path("file"), "untouched").ok());
  std::filesystem::create_symlink(outside.path("file"), root.path("etc/hosts"));
  EXPECT_TRUE(local::update_hosts_file(root.path(), "10.0.0.1 a\n").ok());
  EXPECT_EQ(*read_file(outside.path("file")), "untouched");
  EXPECT_TRUE(contains(*read_file(root.path("etc/hosts")), "10.0.0.1 a\n"));
}

// A node's process sees this computer's own files until it has built its view.
TEST(HostsFile, ThisComputersOwnIsNeverWritten) {
  const std::string before = *read_file("/etc/hosts");
  Result<bool> written = local::update_hosts_file("/proc/self/root", "");
  ASSERT_TRUE(written.ok()) << written.status().text();
  EXPECT_FALSE(*written);
  EXPECT_EQ(*read_file("/etc/hosts"), before);
}

TEST(HostsFile, TheBlockIsReplacedAndTheRestStays) {
  std::string first = local::with_block("127.0.0.1 localhost", "10.0.0.1 a\n");
  std::string second = local::with_block(first + "10.9.9.9 mine\n", "10.0.0.2 b\n");
  EXPECT_TRUE(second.starts_with("127.0.0.1 localhost\n"));
  EXPECT_TRUE(contains(second, "10.0.0.2 b\n"));
  EXPECT_TRUE(second.ends_with("10.9.9.9 mine\n"));
  EXPECT_EQ(second.find("10.0.0.1"), std::string::npos);
  EXPECT_EQ(local::with_block(second, ""), "127.0.0.1 localhost\n10.9.9.9 mine\n");
}

TEST_F(NetworkTest, ADataDiskIsMounted) {
  Seen made = nodes.make(
      "worker[0]",
      {{"hostname", "w.localdomain"}, {"disks", {{{"index", 1}, {"mount_path", "/mnt/radl data/d1"}}}}},
      "token-w");
  EXPECT_EQ(
      run(made, "echo kept > '/mnt/radl data/d1/file' && mountpoint -q '/mnt/radl data/d1' && echo mounted"),
      "mounted\n");
  EXPECT_FALSE(std::filesystem::exists("/mnt/radl data"));
  ASSERT_TRUE(local::end_processes({nodes.context.work_directory, made.id}).ok());
  Seen again = nodes.make("worker[0]", Json::object(), "token-w");
  EXPECT_EQ(run(again, "cat '/mnt/radl data/d1/file'"), "kept\n");
}

TEST_F(NetworkTest, AClosedNetworkHasNoWayOut) {
  auto closed = local::make_cloud({local::Isolation::Required, local::NetworkChoice::Closed});
  Seen made = nodes.make("worker[0]", {{"hostname", "w"}}, "t", closed.get());
  EXPECT_EQ(run(made, "ls /sys/class/net; ip route show default"), "eth0\nlo\n");
}

TEST_F(NetworkTest, TheNetworkCanBeShared) {
  auto shared = local::make_cloud({local::Isolation::Required, local::NetworkChoice::Shared});
  Seen made = nodes.make("worker[0]", {{"hostname", "w"}}, "t", shared.get());
  EXPECT_TRUE(made.attributes.at("host").get<std::string>().starts_with("127."));
  EXPECT_EQ(run(made, "hostname"), "w\n");
  // The infrastructure stays with it: nodes on different networks would not reach each other.
  Seen other = nodes.make("worker[1]");
  EXPECT_TRUE(other.attributes.at("host").get<std::string>().starts_with("127."));
}

}  // namespace
}  // namespace radl

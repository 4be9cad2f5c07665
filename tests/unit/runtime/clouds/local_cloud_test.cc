// The local cloud: made once, found by token, ended to the last process.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <set>
#include <sstream>
#include <thread>

#include "common/files.h"
#include "common/process/process.h"
#include "runtime/clouds/local/isolation.h"
#include "runtime/clouds/local/network.h"
#include "runtime/clouds/local/node_directory.h"
#include "runtime/clouds/local/node_process.h"
#include "runtime/clouds/local/shared_record.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/test_nodes.h"
#include "tests/support/test_target.h"
#include "tests/support/wait_until.h"

namespace radl {
namespace {

using test::contains;
using test::TestNodes;
using test::wait_until;

TEST(LocalRecords, OneOfAnotherShapeIsDamaged) {
  test::TemporaryFolder work;
  const auto put = [&](const std::string& below, const std::string& text) {
    const std::string path = work.path(below);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    EXPECT_TRUE(write_file_atomic(path, text, 0600).ok());
  };
  put("network.json", R"({"version": 1, "name": 5})");
  put("shared/a.json", R"({"version": "1"})");
  put("nodes/n/node.json", R"({"version": 1, "port": "22"})");
  EXPECT_EQ(local::load_network(work.path()).status().code(), Code::Corrupt);
  EXPECT_EQ(local::load_shared(work.path()).status().code(), Code::Corrupt);
  EXPECT_EQ(local::NodeDirectory(work.path(), "n").load().status().code(), Code::Corrupt);
}

class LocalTest : public testing::TestWithParam<local::Isolation> {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(nodes.context.work_directory);
    if (GetParam() == local::Isolation::Required) test::skip_without_isolation();
  }
  std::string run(const Seen& made, const std::string& command) {
    auto remote = ssh::make_remote(*test::target_of(made.attributes));
    auto result = remote->exec(command);
    if (!result) return result.status().text();
    return result->out + result->err;
  }
  TestNodes nodes{GetParam()};
};

TEST_P(LocalTest, CreateIsIdempotentAndFoundByToken) {
  Seen first = nodes.make("worker[0]");
  Seen second = nodes.make("worker[0]");
  EXPECT_EQ(first.id, second.id);
  EXPECT_EQ(first.attributes, second.attributes);
  EXPECT_EQ(first.phase, ResourcePhase::Ready);
  EXPECT_EQ(first.address, "worker[0]");
  EXPECT_EQ(first.token, "token-worker[0]");
  EXPECT_EQ(first.spec, Json({{"hostname", "worker-0.localdomain"}})) << "what was applied";
  EXPECT_FALSE(nodes.find("another"));
}

TEST_P(LocalTest, NodesHaveAddressesOfTheirOwnAndPrivateFiles) {
  Seen a = nodes.make("worker[0]"), b = nodes.make("worker[1]");
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
  Seen made = nodes.make("worker[0]");
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  run(made,
      "setsid sh -c 'sleep 600 & sleep 600' >/dev/null 2>&1 </dev/null & "
      "env -i setsid sleep 601 >/dev/null 2>&1 </dev/null & echo started");
  std::vector<int> pids;
  EXPECT_TRUE(wait_until([&] { return (pids = local::processes_of(directory)).size() >= 4; })) << pids.size();
  ASSERT_TRUE(nodes.destroyed(made));
  // One that was killed may be on its way out for a moment more.
  for (int pid : pids)
    EXPECT_TRUE(wait_until([&] { return process_start_time(pid) == 0; })) << "process " << pid << " is left";
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/nodes"));
  EXPECT_TRUE(nodes.destroyed(made)) << "gone already is fine";
}

// Nothing of radlc runs while the node counts its time.
TEST_P(LocalTest, ANodeEndsItselfWhenItsTimeIsOver) {
  const Json spec = {{"hostname", "worker-0.localdomain"},
                     {"stop", {{"after_seconds", 3}, {"action", "stop"}}}};
  if (GetParam() == local::Isolation::Off) {
    // Its processes are this computer's own: it would be this computer that ends.
    Asked asked =
        nodes.cloud->ask_create(nodes.context, TestNodes::order("node", "worker[0]", spec, "token"));
    EXPECT_EQ(asked.answer, Asked::Answer::Refused);
    EXPECT_TRUE(contains(asked.status.message(), "need an isolated node"));
    return;
  }
  Seen made = nodes.make("worker[0]", spec, "token");
  EXPECT_EQ(made.phase, ResourcePhase::Ready);
  Seen other = nodes.make("worker[1]");
  EXPECT_TRUE(wait_until([&] { return nodes.find("token")->phase == ResourcePhase::Stopped; }));
  EXPECT_EQ(nodes.find(other.token)->phase, ResourcePhase::Ready) << "only that one";
}

TEST_P(LocalTest, DestroyFindsProcessesOfAKilledServer) {
  Seen made = nodes.make("worker[0]");
  local::NodeDirectory directory(nodes.context.work_directory, made.id);
  run(made, "setsid sleep 600 >/dev/null 2>&1 </dev/null &");
  std::vector<int> pids;
  ASSERT_TRUE(wait_until([&] { return (pids = local::processes_of(directory)).size() >= 2; }));
  kill(pids.front(), SIGKILL);
  ASSERT_TRUE(wait_until([&] { return process_start_time(pids.front()) == 0; }));
  ASSERT_TRUE(nodes.destroyed(made));
  for (int pid : pids) EXPECT_EQ(process_start_time(pid), 0u) << "process " << pid << " is left";
}

TEST_P(LocalTest, ACreateThatWasCutShortIsFinished) {
  // What a run leaves that is killed right after the record: a folder with it and nothing else.
  local::NodeDirectory directory(nodes.context.work_directory,
                                 local::node_id("worker[0]", "token-worker[0]"));
  Seen whole = nodes.make("worker[0]");
  auto record = directory.load();
  ASSERT_TRUE(record.ok());
  ASSERT_TRUE(nodes.destroyed(whole));
  record->port = 0;
  record->host_key = "";
  record->whole = false;
  ASSERT_TRUE(directory.make().ok() && directory.save(*record).ok());
  auto found = nodes.find("token-worker[0]");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->phase, ResourcePhase::Broken);
  Seen again = nodes.make("worker[0]");
  EXPECT_EQ(again.id, whole.id);
  EXPECT_EQ(run(again, "echo ok"), "ok\n");
}

TEST_P(LocalTest, ThreeNodesAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&, i] { nodes.make("worker[" + std::to_string(i) + "]"); });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(nodes.all().size(), GetParam() == local::Isolation::Off ? 4u : 5u)
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
    for (const Seen& made : one->all()) {
      if (made.type != "node") continue;
      places.insert(made.attributes.at("host").get<std::string>() + ":" +
                    std::to_string(made.attributes.at("port").get<int>()));
      EXPECT_EQ(run(made, "echo ok"), "ok\n");
    }
  }
  EXPECT_EQ(places.size(), 4u);
}

TEST_P(LocalTest, KeysArePrivateForAnyUmask) {
  mode_t before = umask(0);
  Seen made = nodes.make("worker[0]");
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
  nodes.context.environment =
      nodes.context.environment.with("HOME", fake_home.path()).with("TMPDIR", fake_tmp.path());
  Seen made = nodes.make("worker[0]");
  EXPECT_EQ(run(made, "touch ~/here; echo ok"), "ok\n");
  EXPECT_TRUE(nodes.destroyed(made));
  EXPECT_TRUE(std::filesystem::is_empty(fake_home.path()));
  EXPECT_TRUE(std::filesystem::is_empty(fake_tmp.path()));
}

TEST(LocalPorts, APortThatIsTakenIsLeftToItsOwner) {
  TestNodes nodes(local::Isolation::Off);
  Seen made = nodes.make("worker[0]");
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
  Seen again = nodes.make("worker[0]");
  EXPECT_NE(again.attributes.at("port").get<int>(), port);
  EXPECT_EQ(again.attributes.at("host_key"), made.attributes.at("host_key"));
  auto result = ssh::make_remote(*test::target_of(again.attributes))->exec("echo ok");
  EXPECT_TRUE(result.ok()) << result.status().text();
  close(taken);
}

INSTANTIATE_TEST_SUITE_P(Isolation, LocalTest,
                         testing::Values(local::Isolation::Off, local::Isolation::Required),
                         [](const auto& info) { return info.param == local::Isolation::Off ? "off" : "on"; });

struct IsolatedTest : LocalTest {};

TEST_P(IsolatedTest, HasHostnameFilesAndProcessesOfItsOwn) {
  Seen made = nodes.make("worker[0]");
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
  auto found = nodes.find("token-worker[0]");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->phase, ResourcePhase::Broken);
  ASSERT_EQ(nodes.all().size(), 1u);
  ASSERT_TRUE(nodes.destroyed(*found));
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/nodes"));
}

TEST_P(LocalTest, KeyAndNetworkAreFoundByTheirTokensAndGoWithoutATrace) {
  Order key = TestNodes::order("key", "key.local", {{"type", "ed25519"}}, "token-key");
  Order lan = TestNodes::order("network", "network.lan", {{"name", "lan"}}, "token-lan");
  for (int twice = 0; twice < 2; ++twice) {
    for (const Order& order : {key, lan}) {
      Asked asked = nodes.cloud->ask_create(nodes.context, order);
      ASSERT_EQ(asked.answer, Asked::Answer::Accepted) << asked.status.text();
      auto seen = nodes.find(order.token);
      ASSERT_TRUE(seen) << order.address;
      EXPECT_EQ(seen->id, asked.id);
      EXPECT_EQ(seen->address, order.address);
      EXPECT_EQ(seen->spec, order.spec);
      EXPECT_EQ(seen->phase, ResourcePhase::Ready);
    }
  }
  EXPECT_TRUE(contains(nodes.find("token-lan")->attributes.at("cidr"), "/"));
  Seen node = nodes.make("worker[0]");
  EXPECT_EQ(nodes.all().size(), 3u);
  ASSERT_TRUE(nodes.destroyed(node));
  EXPECT_EQ(nodes.find("token-lan")->phase, ResourcePhase::Ready) << "it outlives its nodes";
  ASSERT_TRUE(nodes.destroyed(*nodes.find("token-lan")));
  ASSERT_TRUE(nodes.destroyed(*nodes.find("token-key")));
  EXPECT_TRUE(std::filesystem::is_empty(nodes.context.work_directory));
}

TEST_P(LocalTest, WhatAStoppedRunBeganIsBrokenAndCanBeDestroyed) {
  for (const char* type : {"key", "network"}) {
    const std::string id = std::string(type) == "key" ? local::kKeyId : "network-lan-1";
    ASSERT_TRUE(local::save_shared(nodes.context.work_directory, {id, type, "a", "token", {}}).ok());
    auto seen = nodes.find("token");
    ASSERT_TRUE(seen) << type;
    EXPECT_EQ(seen->phase, ResourcePhase::Broken);
    ASSERT_TRUE(nodes.destroyed(*seen));
  }
  EXPECT_TRUE(std::filesystem::is_empty(nodes.context.work_directory));
}

TEST_P(LocalTest, ARefusedNodeLeavesNothing) {
  nodes.context.stop = Stop::when([] { return true; });
  Asked asked = nodes.cloud->ask_create(nodes.context,
                                        TestNodes::order("node", "worker[0]", {{"hostname", "w"}}, "token"));
  nodes.context.stop = {};
  EXPECT_EQ(asked.answer, Asked::Answer::Refused);
  EXPECT_EQ(asked.status.code(), Code::Cancelled);
  EXPECT_FALSE(nodes.find("token"));
  EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/nodes"));
}

// radlc is killed while it makes a node. Destroying what the next one sees leaves nothing.
TEST_P(LocalTest, KilledAtAnyTimeNothingIsLeftThatIsNotSeen) {
  const Order order = TestNodes::order("node", "worker[0]", {{"hostname", "w"}}, "token");
  local::NodeDirectory directory(nodes.context.work_directory, local::node_id(order.address, order.token));
  std::set<ResourcePhase> phases;
  std::vector<int> waits;
  for (int wait_us = 0; wait_us < 400000; wait_us += 1000 + wait_us / 6) waits.push_back(wait_us);
  // On a busy computer no wait of a round may meet a node that is half made.
  for (size_t i = 0; i < waits.size() || (!phases.count(ResourcePhase::Broken) && i < 10 * waits.size());
       ++i) {
    const int wait_us = waits[i % waits.size()];
    SCOPED_TRACE(wait_us);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      (void)nodes.cloud->ask_create(nodes.context, order);
      ::pause();
    }
    usleep(static_cast<useconds_t>(wait_us));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    nodes.cloud = local::make_cloud({GetParam()});
    for (const char* type : {"node", "network", "key"}) {
      for (const Seen& seen : nodes.all()) {
        if (seen.type != type) continue;
        if (seen.type == "node") phases.insert(seen.phase);
        ASSERT_TRUE(nodes.destroyed(seen));
      }
    }
    EXPECT_TRUE(local::processes_of(directory).empty());
    EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/nodes"));
    EXPECT_FALSE(std::filesystem::exists(nodes.context.work_directory + "/id_ed25519"));
  }
  // Parts of files go with the next change.
  ASSERT_TRUE(nodes.destroyed(nodes.make("worker[1]")));
  ASSERT_TRUE(nodes.destroyed(nodes.all().at(0)));
  EXPECT_TRUE(std::filesystem::is_empty(nodes.context.work_directory));
  EXPECT_TRUE(phases.count(ResourcePhase::Broken));
}

TEST_P(LocalTest, AnUpdateStartsAStoppedNodeAndKeepsItsFiles) {
  Seen made = nodes.make("worker[0]");
  run(made, "echo kept > ~/file");
  ASSERT_TRUE(local::end_processes({nodes.context.work_directory, made.id}).ok());
  EXPECT_EQ(nodes.read(made.id)->phase, ResourcePhase::Stopped);
  Order order =
      TestNodes::order("node", "worker[0]", {{"hostname", "worker-0.localdomain"}, {"cpu_count", 2}}, "");
  order.id = made.id;
  Asked asked = nodes.cloud->ask_update(nodes.context, order);
  ASSERT_EQ(asked.answer, Asked::Answer::Accepted) << asked.status.text();
  auto seen = nodes.read(made.id);
  EXPECT_EQ(seen->phase, ResourcePhase::Ready);
  EXPECT_EQ(seen->spec, order.spec);
  EXPECT_EQ(run(*seen, "cat ~/file"), "kept\n");
}

TEST(LocalOptions, AnUnknownWordIsAnError) {
  auto cloud = local::make_cloud(
      local::options_of(Environment(Environment::Variables{{"RADL_LOCAL_NETWORK", "ownn"}})));
  ir::Program program;
  Status can = cloud->can_make(ir::Node(), {program, {}, Survey(), Catalog()});
  ASSERT_FALSE(can.ok());
  EXPECT_TRUE(contains(can.message(), "RADL_LOCAL_NETWORK=ownn"));
}

INSTANTIATE_TEST_SUITE_P(Isolation, IsolatedTest, testing::Values(local::Isolation::Required));

struct LocalDesign : testing::Test {
  LocalDesign() {
    program.networks.push_back({"network.lan", "lan"});
    program.networks.push_back({"network.unused", "unused"});
    for (int i = 0; i < 2; ++i) {
      ir::Node& node = program.nodes.emplace_back();
      node.address = "w[" + std::to_string(i) + "]";
      node.system = "w";
      node.number = i;
      node.requirements["cpu.count"].min = 2;
      node.user = "ubuntu";
      node.interfaces.push_back({0, "lan"});
    }
  }
  DesignInput input() {
    std::vector<const ir::Node*> of_cloud;
    for (const ir::Node& node : program.nodes) of_cloud.push_back(&node);
    return {program, of_cloud, survey, catalog};
  }
  std::unique_ptr<Cloud> cloud = local::make_cloud({});
  ir::Program program;
  Survey survey;
  Catalog catalog;
};

TEST_F(LocalDesign, DeclaresTheKeyThenNetworksThenNodes) {
  auto design = cloud->design(input());
  ASSERT_TRUE(design.ok()) << design.status().text();
  std::vector<std::string> addresses;
  for (const Wanted& wanted : design->resources) addresses.push_back(wanted.address);
  EXPECT_EQ(addresses, (std::vector<std::string>{"key.local", "network.lan", "w[0]", "w[1]"}));
  const Wanted& node = design->resources.back();
  EXPECT_EQ(node.type, "node");
  EXPECT_EQ(node.node, "w[1]");
  EXPECT_EQ(node.summary, "local, 2 cpu, in lan");
  EXPECT_EQ(node.references, (std::vector<std::string>{"key.local", "network.lan"}));
  EXPECT_EQ(node.spec, Json({{"hostname", "vnode-1.localdomain"}, {"number", 1}, {"cpu_count", 2.0}}));
  EXPECT_TRUE(node.offers.empty()) << "it costs nothing";
  EXPECT_EQ(design->notes,
            (std::vector<std::string>{"system 'w': the login is this computer's user, not 'ubuntu'"}))
      << "once, not for each node";
}

TEST_F(LocalDesign, ANetworkOfASecondCloudHasAnAddressOfItsOwn) {
  DesignInput second = input();
  second.plain_names = false;
  auto design = cloud->design(second);
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(design->resources[1].address, "network.lan@local");
  EXPECT_EQ(design->resources[2].references.back(), "network.lan@local");
}

TEST_F(LocalDesign, NamesWhatCannotBeHad) {
  program.nodes[0].requirements["disk.0.os.name"].equals = "windows";
  Status can = cloud->can_make(program.nodes[0], input());
  ASSERT_FALSE(can.ok());
  EXPECT_TRUE(contains(can.message(), "disk.0.os.name"));
  EXPECT_TRUE(cloud->can_make(program.nodes[1], input()).ok());
}

TEST_F(LocalDesign, OnlyAHostNameAndDisksTakeANewNode) {
  Json before{{"hostname", "a"}, {"cpu_count", 1}, {"state", "stopped"}};
  auto after = [&](const Json& changes) {
    Json spec = before;
    spec.update(changes);
    return spec;
  };
  using Kind = Impact::Kind;
  EXPECT_EQ(cloud->impact("node", before, after({{"hostname", "b"}})).kind, Kind::Replace);
  EXPECT_TRUE(contains(cloud->impact("node", before, after({{"hostname", "b"}})).why, "host name"));
  EXPECT_EQ(cloud->impact("node", before, after({{"disks", {1}}})).kind, Kind::Replace);
  EXPECT_EQ(cloud->impact("node", before, after({{"cpu_count", 4}})).kind, Kind::InPlace);
  EXPECT_EQ(cloud->impact("node", before, after({{"state", "running"}})).kind, Kind::InPlace);
  EXPECT_EQ(cloud->impact("network", {{"public", true}}, {{"public", false}}).kind, Kind::InPlace);
}

}  // namespace
}  // namespace radl

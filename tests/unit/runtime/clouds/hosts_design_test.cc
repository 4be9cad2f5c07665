// What a file says of existing machines, and what the plan makes of it.
#include <gtest/gtest.h>

#include "runtime/clouds/hosts/hosts_cloud.h"
#include "runtime/clouds/hosts/machine.h"
#include "runtime/clouds/machine_facts.h"
#include "tests/support/test_nodes.h"

namespace radl::hosts {
namespace {

using test::contains;

TEST(Machine, IsNamedByAnAddress) {
  auto machine = parse_machine("ssh://ubuntu@gpu1.example.org:2222");
  ASSERT_TRUE(machine.ok()) << machine.status().text();
  EXPECT_EQ(machine->user, "ubuntu");
  EXPECT_EQ(machine->host, "gpu1.example.org");
  EXPECT_EQ(machine->port, 2222);
  for (const char* text :
       {"ssh://gpu1", "ssh://a@gpu1", "ssh://gpu1:22", "ssh://[fe80::1]:22", "ssh://a_b@10.0.0.1"})
    EXPECT_EQ(parse_machine(text)->text(), text);
}

TEST(Machine, WhatAShellOrConfigurationWouldUnderstandIsNoName) {
  for (const char* text : {"gpu1", "ssh://", "ssh://-oProxyCommand=x", "ssh://a b", "ssh://$(x)",
                           "ssh://-l@gpu1", "ssh://gpu1:0", "ssh://gpu1:99999", "ssh://gpu1:22x",
                           "ssh://gpu1/path", "ssh://u:p@gpu1", "ssh://gpu1\nHost", "http://gpu1"})
    EXPECT_EQ(parse_machine(text).status().code(), Code::Invalid) << text;
}

struct HostsDesign : testing::Test {
  HostsDesign() {
    program.networks.push_back({"network.lan", "lan"});
    program.networks[0].ports.push_back({});
    for (int i = 0; i < 2; ++i) {
      ir::Node& node = program.nodes.emplace_back();
      node.address = "w[" + std::to_string(i) + "]";
      node.system = "w";
      node.ordinal = node.number = i;
      node.requirements["cpu.count"].min = 2;
      node.requirements["cpu.performance"].min = 1;
      node.interfaces.push_back({0, "lan", "vnode-" + std::to_string(i)});
      node.disks.push_back({});
      node.disks[0].image_urls = {"ssh://gpu1", "ssh://ubuntu@gpu2:2222"};
    }
  }
  DesignInput input() {
    std::vector<const ir::Node*> nodes;
    for (const ir::Node& node : program.nodes) nodes.push_back(&node);
    return {program, nodes, survey, catalog};
  }
  Status can_make(size_t i) { return cloud->can_make(program.nodes[i], input()); }
  std::unique_ptr<Cloud> cloud = make_cloud({});
  ir::Program program;
  Survey survey;
  Catalog catalog;
};

TEST_F(HostsDesign, EachNodeIsTheMachineOfItsPlaceInTheList) {
  auto design = cloud->design(input());
  ASSERT_TRUE(design.ok()) << design.status().text();
  ASSERT_EQ(design->resources.size(), 3u);
  EXPECT_EQ(design->resources[0].address, "key.hosts");
  const Wanted& second = design->resources[2];
  EXPECT_EQ(second.type, "host");
  EXPECT_EQ(second.node, "w[1]");
  EXPECT_EQ(second.spec.at("machine"), "ssh://ubuntu@gpu2:2222");
  EXPECT_EQ(second.spec.at("requires"), Json({{"cpu.count", {{"min", 2.0}}}}));
  EXPECT_EQ(second.references, std::vector<std::string>{"key.hosts"});
  EXPECT_EQ(second.summary, "hosts gpu2:2222, 2 cpu, in lan");
  EXPECT_EQ(design->notes,
            (std::vector<std::string>{
                "system 'w': cloud hosts has no use for cpu.performance",
                "network 'lan': outports are ignored: existing machines keep their firewall"}));
}

TEST_F(HostsDesign, AMissingOrForeignMachineIsRejected) {
  program.nodes[1].disks[0].image_urls = {"ssh://gpu1"};
  EXPECT_TRUE(can_make(0).ok());
  EXPECT_TRUE(contains(can_make(1).message(), "w[1]: disk.0.image.url names 1 machine"));
  program.nodes[1].ordinal = 0;
  EXPECT_TRUE(contains(can_make(1).message(), "w[1]: disk.0.image.url: gpu1 is w[0] already"));
  EXPECT_FALSE(cloud->design(input()).ok());
  program.nodes[1].disks.clear();
  EXPECT_TRUE(contains(can_make(1).message(), "disk.0.image.url = 'ssh://NAME'"));
  program.nodes[1].interfaces[0].fixed_ip = "10.0.0.7";
  EXPECT_EQ(cloud->design(input())->resources[2].spec.at("machine"), "ssh://10.0.0.7");
  program.nodes[1].requirements["disk.0.os.name"].equals = "windows";
  EXPECT_TRUE(contains(can_make(1).message(), "disk.0.os.name"));
}

TEST_F(HostsDesign, TheLoginMayBeGivenAsAFeatureAndSecretsStayReferences) {
  program.nodes[0].user = "ubuntu";
  program.nodes[0].secrets["password"] = ir::secret("PASSWORD");
  auto design = cloud->design(input());
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(design->resources[1].spec.at("machine"), "ssh://ubuntu@gpu1");
  EXPECT_EQ(design->resources[1].spec.at("credentials"), Json({{"password", {{"$secret", "PASSWORD"}}}}));
  program.nodes[1].user = "root";
  EXPECT_TRUE(contains(can_make(1).message(), "disk.0.image.url names user 'ubuntu'"));
}

TEST_F(HostsDesign, AnotherMachineIsAnotherNodeAndMoreAskedOfItIsNot) {
  Json before{{"machine", "ssh://gpu1"}, {"requires", Json::object()}};
  Json moved = before, more = before;
  moved["machine"] = "ssh://gpu2";
  more["requires"] = {{"cpu.count", {{"min", 4}}}};
  EXPECT_EQ(cloud->impact("host", before, moved).kind, Impact::Kind::Replace);
  EXPECT_EQ(cloud->impact("host", before, more).kind, Impact::Kind::InPlace);
}

TEST(Facts, AreComparedAsTheFileSaysIt) {
  const Json facts{{"cpu_count", 8},
                   {"memory_bytes", 17179869184.0},
                   {"gpu_count", 1},
                   {"gpu_memory_bytes", 40536.0 * 1024 * 1024},
                   {"gpu_vendor", "NVIDIA"},
                   {"gpu_model", "NVIDIA A100-SXM4-40GB"},
                   {"architecture", "x86_64"},
                   {"os", "linux"},
                   {"os_flavour", "ubuntu"},
                   {"os_version", "22.04"},
                   {"disk_bytes", 19500000000.0}};
  auto met = [&](const std::string& feature, const ir::Requirement& wanted) {
    ir::Node node;
    node.requirements[feature] = wanted;
    return unmet(checked_requirements(node), facts).empty();
  };
  auto min = [](double value, bool strict = false) {
    ir::Requirement wanted;
    wanted.min = value;
    wanted.min_strict = strict;
    return wanted;
  };
  auto max = [](double value) {
    ir::Requirement wanted;
    wanted.max = value;
    return wanted;
  };
  auto equal = [](const Json& value) {
    ir::Requirement wanted;
    wanted.equals = value;
    return wanted;
  };
  auto version = [](const std::string& op, const std::string& value) {
    ir::Requirement wanted;
    wanted.versions[op] = value;
    return wanted;
  };
  EXPECT_TRUE(met("cpu.count", min(8)));
  EXPECT_FALSE(met("cpu.count", min(8, true)));
  EXPECT_FALSE(met("cpu.count", max(4)));
  EXPECT_TRUE(met("memory.size", min(17179869184.0)));
  EXPECT_FALSE(met("gpu.count", min(2)));
  EXPECT_TRUE(met("gpu.memory", min(40e9)));
  EXPECT_FALSE(met("gpu.memory", min(80e9)));
  EXPECT_TRUE(met("gpu.vendor", equal("nvidia")));
  EXPECT_TRUE(met("gpu.model", equal("A100")));
  EXPECT_FALSE(met("gpu.model", equal("H100")));
  EXPECT_TRUE(met("disk.0.size", min(20e9))) << "a disk of 20 GB holds a file system that is smaller";
  EXPECT_FALSE(met("disk.0.size", min(40e9)));
  EXPECT_TRUE(met("disk.0.os.flavour", equal("Ubuntu")));
  EXPECT_TRUE(met("disk.0.os.flavour", equal(Json::array({"debian", "ubuntu"}))));
  EXPECT_FALSE(met("disk.0.os.flavour", equal("debian")));
  EXPECT_TRUE(met("disk.0.os.version", version(">=", "20.10")));
  EXPECT_TRUE(met("disk.0.os.version", version("<", "22.10")));
  EXPECT_FALSE(met("disk.0.os.version", version(">", "22.4"))) << "22.04 is 22.4";
  EXPECT_TRUE(met("disk.0.os.version", equal("22.04")));
  const Json asked{{"cpu.count", {{"min", 16}}}, {"gpu.count", {{"min", 1}}}};
  EXPECT_EQ(as_observed(asked, facts), Json({{"cpu.count", {{"found", 8}}}, {"gpu.count", {{"min", 1}}}}));
}

}  // namespace
}  // namespace radl::hosts

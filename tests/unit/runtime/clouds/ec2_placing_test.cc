// Where in EC2 a machine and a network go, by what a file says of it.
#include <gtest/gtest.h>

#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/ec2/images.h"
#include "runtime/clouds/ec2/placing.h"
#include "tests/support/runtime_programs.h"

namespace radl::ec2 {
namespace {

ir::Node machine_with(std::map<std::string, std::string> features) {
  ir::Node node;
  node.address = "worker[0]";
  node.system = "worker";
  for (const auto& [name, value] : features) node.requirements[name].equals = value;
  return node;
}

TEST(Ec2Placing, ARegionIsNamedByZoneOrImage) {
  EXPECT_EQ(region_named(machine_with({{"availability_zone", "eu-west-1b"}})), "eu-west-1");
  EXPECT_EQ(region_named(machine_with({{"availability_zone", "eu-west-1"}})), "eu-west-1");
  // Local zones, those of Wavelength, and names that are nobody's but a server's own.
  for (auto [zone, region] : std::map<std::string, std::string>{{"us-west-2-lax-1a", "us-west-2"},
                                                                {"us-east-1-wl1-bos-wlz-1", "us-east-1"},
                                                                {"us-gov-east-1a", "us-gov-east-1"},
                                                                {"ap-southeast-7b", "ap-southeast-7"},
                                                                {"cluster1a", "cluster1"},
                                                                {"nova", "nova"}})
    EXPECT_EQ(region_of_zone(zone), region) << zone;
  ir::Node node;
  ir::Disk disk;
  disk.image_urls = {"ost://cloud.example/1", "aws://ap-south-1/ami-1"};
  node.disks.push_back(disk);
  EXPECT_EQ(region_named(node), "ap-south-1");
  EXPECT_EQ(image_wanted(node, "x86_64", "")->text, "ami-1") << "the first that EC2 can serve";
  node.disks[0].image_urls.push_back("aws://eu-west-1/ami-2");
  EXPECT_EQ(image_wanted(node, "x86_64", "eu-west-1")->text, "ami-2") << "the one of the region";
  EXPECT_EQ(image_wanted(node, "x86_64", "sa-east-1")->region, "ap-south-1")
      << "none: the first is complained of";
}

TEST(Ec2Placing, AProviderIdIsAVpcASubnetOrBoth) {
  ir::Network network;
  network.features["provider_id"] = "vpc-1.subnet-2";
  EXPECT_EQ(place_of(network, "eu-west-1")->vpc, "vpc-1");
  EXPECT_EQ(place_of(network, "eu-west-1")->subnet, "subnet-2");
  network.features["provider_id"] = "us-east-1/vpc-1, eu-west-1/vpc-2.subnet-3";
  EXPECT_EQ(place_of(network, "us-east-1")->vpc, "vpc-1");
  EXPECT_EQ(place_of(network, "eu-west-1")->subnet, "subnet-3");
  EXPECT_NE(place_of(network, "sa-east-1").status().message().find("names nothing in region sa-east-1"),
            std::string::npos);
  network.features["provider_id"] = "subnet-7";  // of whatever VPC it is in
  EXPECT_EQ(place_of(network, "eu-west-1")->vpc, "subnet-7");
  EXPECT_EQ(place_of(network, "eu-west-1")->subnet, "subnet-7");
  network.features["provider_id"] = "public";
  EXPECT_NE(place_of(network, "eu-west-1").status().message().find("vpc-ID"), std::string::npos);
}

// Machines of `front` in networks public and lan, of `worker` in lan alone.
class Ec2Networks : public ::testing::Test {
 protected:
  Ec2Networks() {
    program_ = test::ProgramBuilder().deploy({"front", 1}).deploy({"worker", 1}).build();
    ir::Network network;
    network.address = "network.public";
    network.name = "public";
    network.is_public = true;
    program_.networks.push_back(network);
    ir::Interface interface;
    interface.network = "public";
    auto& interfaces = program_.nodes[0].interfaces;
    interfaces.insert(interfaces.begin(), interface);
  }
  void name(const char* network, const char* id) {
    for (ir::Network& one : program_.networks)
      if (one.name == network) one.features["provider_id"] = id;
  }
  // The error, or "".
  std::string design() {
    DesignInput input{program_, {}, survey_, catalog_};
    for (const ir::Node& node : program_.nodes) input.nodes.push_back(&node);
    auto made = design_resources({"ec2", "", "us-east-1"}, input);
    if (!made.ok()) return made.status().message();
    design_ = std::move(*made);
    return "";
  }
  Json spec(const std::string& address) const {
    for (const Wanted& wanted : design_.resources)
      if (wanted.address == address) return wanted.spec;
    return {};
  }
  bool notes(const std::string& text) const {
    for (const std::string& note : design_.notes)
      if (note.find(text) != note.npos) return true;
    return false;
  }

  const Survey survey_;
  const Catalog catalog_ = built_in_catalog();
  ir::Program program_;
  Design design_;
};

TEST_F(Ec2Networks, OneWithoutAVpcIsInThatOfTheNetworksOfItsMachines) {
  name("public", "vpc-1.subnet-2");
  ASSERT_EQ(design(), "");
  for (const char* address : {"network.public", "network.lan", "front[0]", "worker[0]"})
    EXPECT_EQ(spec(address).value("vpc", ""), "vpc-1") << address;
  EXPECT_EQ(spec("front[0]").value("subnet", ""), "subnet-2");
  EXPECT_FALSE(spec("worker[0]").contains("subnet")) << "it is not in that network";
  EXPECT_FALSE(spec("worker[0]").value("public", true));
}

TEST_F(Ec2Networks, ASubnetAloneNamesItsVpc) {
  name("public", "subnet-2");
  ASSERT_EQ(design(), "");
  for (const char* address : {"network.public", "network.lan", "front[0]", "worker[0]"})
    EXPECT_EQ(spec(address).value("vpc", ""), "subnet-2") << address;
  name("lan", "vpc-1");  // that of the subnet, as EC2 sees to
  ASSERT_EQ(design(), "");
  EXPECT_EQ(spec("front[0]").value("vpc", ""), "vpc-1");
}

TEST_F(Ec2Networks, TwoVpcsOfOneMachineAndASecondSubnetAreSaid) {
  name("public", "vpc-1.subnet-2");
  name("lan", "vpc-1.subnet-3");
  ASSERT_EQ(design(), "");
  EXPECT_EQ(spec("front[0]").value("subnet", ""), "subnet-2");
  EXPECT_EQ(spec("worker[0]").value("subnet", ""), "subnet-3");
  EXPECT_TRUE(notes(
      "system 'front': an instance has one interface, which is in subnet-2 and not in subnet-3 of lan"));
  name("lan", "vpc-2");
  EXPECT_EQ(design(), "front[0]: its networks are in two VPCs, vpc-1 and vpc-2");
}

TEST_F(Ec2Networks, WhatEc2DoesNothingAboutIsSaid) {
  program_.networks[0].features["router"] = "10.1.0.0/16,front";
  program_.networks[0].features["gateway"] = "10.0.0.1";
  ASSERT_EQ(design(), "");
  EXPECT_TRUE(notes("network lan: gateway, router have no effect in EC2"));
  EXPECT_FALSE(notes("network public:"));
}

TEST_F(Ec2Networks, WithoutAnyAllAreInTheDefaultVpc) {
  ASSERT_EQ(design(), "");
  for (const char* address : {"network.public", "network.lan", "front[0]", "worker[0]"})
    EXPECT_FALSE(spec(address).contains("vpc")) << address;
}

}  // namespace
}  // namespace radl::ec2

// Tags that a file asks for, as each cloud takes them: what is refused at plan.
#include "runtime/clouds/tag_rules.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "runtime/clouds/azure/design.h"
#include "runtime/clouds/ec2/design.h"
#include "runtime/clouds/gce/design.h"
#include "runtime/clouds/hosts/design.h"
#include "runtime/clouds/local/design.h"
#include "runtime/clouds/openstack/design.h"
#include "runtime/clouds/simulated/design.h"
#include "tests/support/runtime_programs.h"

namespace radl::test {
namespace {

using Check = std::function<Status(const ir::Node&, const DesignInput&)>;

// Every cloud.
const std::map<std::string, Check>& clouds() {
  static const std::map<std::string, Check> all = {
      {"ec2",
       [](auto& node, auto& in) {
         return ec2::check_node({"ec2", "", "us-east-1"}, node, in);
       }},
      {"openstack",
       [](auto& node, auto& in) {
         return openstack::check_node({{"openstack", "", ""}, "", ""}, node, in);
       }},
      {"gce",
       [](auto& node, auto& in) {
         return gce::check_node({{"gce", "", "europe-west1"}, ""}, node, in);
       }},
      {"azure",
       [](auto& node, auto& in) {
         return azure::check_node({"azure", "", "eastus"}, node, in);
       }},
      {"simulated",
       [](auto& node, auto&) {
         return simulated::check_node({"simulated", "", "eu"}, node);
       }},
      {"local", [](auto& node, auto&) { return local::can_make_node(node); }},
      {"hosts", [](auto& node, auto& in) { return hosts::can_be_had(node, in); }}};
  return all;
}

Status checked(const std::string& cloud, const std::string& tags,
               const std::string& feature = "instance_tags") {
  ir::Program program = ProgramBuilder().deploy({"worker"}).build();
  ir::Node& node = program.nodes.front();
  node.requirements[feature].equals = tags;
  if (cloud == "hosts") {
    ir::Disk disk;
    disk.image_urls = {"ssh://gpu1"};
    node.disks = {disk};
    node.requirements["disk.0.image.url"].equals = "ssh://gpu1";
  }
  static const Catalog catalog = built_in_catalog();
  static const Survey survey;
  const DesignInput input{program, {&node}, survey, catalog};
  return clouds().at(cloud)(node, input);
}

std::string many(int count) {
  std::string tags;
  for (int i = 0; i < count; ++i) tags += (tags.empty() ? "t" : ",t") + std::to_string(i) + "=x";
  return tags;
}

TEST(TagRules, RadlcsOwnPrefixesAreRefusedByEveryCloud) {
  for (const auto& [cloud, check] : clouds()) {
    EXPECT_TRUE(checked(cloud, "stage=test").ok()) << cloud << ": " << checked(cloud, "stage=test").text();
    for (const char* tags : {"radlc:infrastructure=mine", "stage=test,radlc:token=x", "RADLC:Address=x",
                             "radlc-infrastructure=mine", "radlc=x"}) {
      const Status refused = checked(cloud, tags);
      EXPECT_EQ(refused.code(), Code::Invalid) << cloud << " " << tags;
      EXPECT_NE(refused.text().find("reserved"), std::string::npos) << cloud << ": " << refused.text();
    }
    EXPECT_EQ(checked(cloud, "radlc-0123456789-x", "instance_name").code(), Code::Invalid) << cloud;
    EXPECT_TRUE(checked(cloud, "radlcish=x").ok()) << cloud;
  }
}

TEST(TagRules, ATagThatIsSetTwiceIsRefused) {
  for (const auto& [cloud, check] : clouds())
    EXPECT_EQ(checked(cloud, "a=1,a=2").code(), Code::Invalid) << cloud;
  EXPECT_EQ(checked("azure", "a=1,A=2").code(), Code::Invalid) << "Azure ignores the case of names";
  EXPECT_TRUE(checked("ec2", "a=1,A=2").ok());
}

struct Limit {
  const char* cloud;
  std::string most, more;
};

TEST(TagRules, DocumentedLimitsHoldAtPlan) {
  auto key = [](size_t length) { return std::string(length, 'k') + "=v"; };
  auto value = [](size_t length) { return "k=" + std::string(length, 'v'); };
  const Limit limits[] = {{"ec2", key(128), key(129)},           {"ec2", value(256), value(257)},
                          {"ec2", many(44), many(45)},           {"ec2", "awsome=x", "aws:x=y"},
                          {"ec2", "awsome=x", "AWS:x=y"},        {"openstack", key(255), key(256)},
                          {"openstack", value(255), value(256)}, {"openstack", "a b=x", "a/b=x"},
                          {"openstack", many(120), many(121)},   {"gce", key(63), key(64)},
                          {"gce", value(63), value(64)},         {"gce", many(62), many(63)},
                          {"gce", "team=x", "Team=x"},           {"gce", "team=x", "goog-x=y"},
                          {"azure", key(512), key(513)},         {"azure", value(256), value(257)},
                          {"azure", many(46), many(47)},         {"azure", "team=x", "Microsoft.x=y"},
                          {"azure", "team=x", "a<b=c"}};
  for (const Limit& limit : limits) {
    EXPECT_TRUE(checked(limit.cloud, limit.most).ok())
        << limit.cloud << " " << limit.most << ": " << checked(limit.cloud, limit.most).text();
    EXPECT_EQ(checked(limit.cloud, limit.more).code(), Code::Invalid) << limit.cloud << " " << limit.more;
  }
}

// Characters, not bytes.
TEST(TagRules, LimitsCountCharacters) {
  std::string text;
  for (int i = 0; i < 256; ++i) text += "\xC3\xA4";
  EXPECT_TRUE(checked("ec2", "k=" + text).ok());
  EXPECT_EQ(checked("ec2", "k=" + text + "a").code(), Code::Invalid);
}

// An address that is longer than a tag would be cut, and the machine never be known again by it.
TEST(TagRules, AnAddressThatNoTagHoldsIsRefused) {
  for (const char* cloud : {"ec2", "openstack", "azure"}) {
    ir::Program program = ProgramBuilder().deploy({std::string(300, 'w')}).build();
    static const Catalog catalog = built_in_catalog();
    static const Survey survey;
    const DesignInput input{program, {&program.nodes[0]}, survey, catalog};
    EXPECT_EQ(clouds().at(cloud)(program.nodes[0], input).code(), Code::Invalid) << cloud;
  }
}

TEST(TagRules, NameIsATagOfEc2AndIsSaidOnce) {
  EXPECT_TRUE(checked("ec2", "Name=web").ok());
  ir::Program program = ProgramBuilder().deploy({"worker"}).build();
  program.nodes[0].requirements["instance_name"].equals = "web";
  static const Catalog catalog = built_in_catalog();
  static const Survey survey;
  const DesignInput input{program, {&program.nodes[0]}, survey, catalog};
  const CloudId here{"ec2", "", "us-east-1"};
  auto design = ec2::design_resources(here, input);
  ASSERT_TRUE(design.ok()) << design.status().text();
  EXPECT_EQ(design->resources.back().spec["tags"], Json({{"Name", "web"}}));
  program.nodes[0].requirements["instance_tags"].equals = "Name=web";
  EXPECT_TRUE(ec2::check_node(here, program.nodes[0], input).ok());
  program.nodes[0].requirements["instance_tags"].equals = "Name=other";
  EXPECT_EQ(ec2::check_node(here, program.nodes[0], input).code(), Code::Invalid);
}

}  // namespace
}  // namespace radl::test

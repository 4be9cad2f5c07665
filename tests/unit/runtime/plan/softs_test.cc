// Soft features against a catalogue: the largest weights win, what contradicts or cannot be had is dropped
// whole.
#include <gtest/gtest.h>

#include "runtime/catalog/catalog.h"
#include "runtime/plan/softs.h"
#include "tests/support/plan_bench.h"

namespace radl::test {
namespace {

// Gives what the catalogue has, at its price.
class CatalogCloud : public FakeCloud {
 public:
  CatalogCloud() : FakeCloud("ec2") {}

  Status can_make(const ir::Node& node, const DesignInput& input) const override {
    return cheapest(node, input) ? Status() : invalid(node.address + ": no instance type is that large");
  }

 protected:
  void add_node(const DesignInput& input, const ir::Node& node, Design& design) const override {
    const InstanceType& type = *cheapest(node, input);
    Wanted wanted;
    wanted.address = wanted.node = node.address;
    wanted.type = "instance";
    wanted.references = {"key.ec2", "network.lan"};
    wanted.offers = {{type.name, "", type.on_demand->per_hour, {{"type", type.name}}}};
    design.resources.push_back(std::move(wanted));
  }

 private:
  static const InstanceType* cheapest(const ir::Node& node, const DesignInput& input) {
    auto least = [&](const char* feature) {
      auto want = node.requirements.find(feature);
      return want == node.requirements.end() ? 0.0 : want->second.min.value_or(0);
    };
    auto found =
        input.catalog.candidates("ec2", "us-east-1", Market::OnDemand, [&](const InstanceType& type) {
          return type.cpu >= least("cpu.count") && type.memory_bytes >= least("memory.size") &&
                 type.gpu >= least("gpu.count");
        });
    return found.ok() && !found->empty() ? found->front() : nullptr;
  }
};

constexpr const char* kTypes = R"(radl-catalog 2
cloud ec2
currency USD
[types]
t3.medium 2 4096 0 - 0 0/5000 - x86_64 0
m5.xlarge 4 16384 0 - 0 1250/10000 - x86_64 0
g4dn.xlarge 4 16384 1 NVIDIA_T4 16384 5000/25000 1x125nvme x86_64 0
p3.2xlarge 8 62464 1 NVIDIA_V100 16384 0/10000 - x86_64 0
[on-demand us-east-1 2025-01-15]
t3 medium 0.0416
m5 xlarge 0.192
g4dn xlarge 0.526
p3 2xlarge 3.06
)";

ir::Requirement at_least(double value) {
  ir::Requirement want;
  want.min = value;
  return want;
}

ir::Requirement text(const std::string& value) {
  ir::Requirement want;
  want.equals = value;
  return want;
}

struct Plans : testing::Test {
  Plans() {
    EXPECT_TRUE(bench.catalog.add(kTypes, "types").ok());
    bench.clouds.add(cloud);
    bench.clouds.fallback = "ec2";
  }
  ir::Program program(std::vector<ir::Soft> softs) {
    ir::Program made = ProgramBuilder().deploy({"worker", 2}).build();
    for (ir::Node& node : made.nodes) {
      node.requirements["disk.0.os.name"] = text("linux");
      node.softs = softs;
    }
    return made;
  }
  std::string type_of(const Plan& plan) { return plan.find("worker[0]")->spec.at("type"); }
  PlanBench bench;
  CatalogCloud cloud;
};

TEST_F(Plans, WithoutSoftFeaturesTheCheapestTypeIsTaken) {
  EXPECT_EQ(type_of(bench.plan(program({}))), "t3.medium");
}

TEST_F(Plans, AGroupOfTheCatalogIsPartOfTheRequest) {
  Plan plan = bench.plan(program({{10, {{"gpu.count", at_least(1)}}}}));
  EXPECT_EQ(type_of(plan), "g4dn.xlarge");
}

// A note for each group that makes nodes dearer, with the offer that the nodes would have without it.
TEST_F(Plans, AGroupThatRaisesThePriceSaysByHowMuchAndWhatItPassesOver) {
  Plan plan = bench.plan(program({{10, {{"gpu.count", at_least(1)}}}, {5, {{"cpu.count", at_least(8)}}}}));
  EXPECT_EQ(type_of(plan), "p3.2xlarge");
  ASSERT_EQ(plan.notes.size(), 2u);
  EXPECT_EQ(
      plan.notes[0],
      "worker: soft 10 (gpu.count) raises the price by 0.4844 USD to 0.526 USD an hour a node, by 0.9688 USD "
      "for 2 nodes: it takes g4dn.xlarge and passes over t3.medium at 0.0416 USD");
  EXPECT_EQ(
      plan.notes[1],
      "worker: soft 5 (cpu.count) raises the price by 2.534 USD to 3.06 USD an hour a node, by 5.068 USD for "
      "2 nodes: it takes p3.2xlarge and passes over g4dn.xlarge at 0.526 USD");
}

TEST_F(Plans, AGroupThatTheCheapestOfferMeetsAnywayIsNotNoted) {
  Plan plan = bench.plan(program({{10, {{"cpu.count", at_least(2)}}}}));
  EXPECT_EQ(type_of(plan), "t3.medium");
  EXPECT_TRUE(plan.notes.empty());
}

TEST_F(Plans, TheLargerWeightWins) {
  // 60 GiB are to be had, nine processors besides are not.
  std::vector<ir::Soft> softs = {{20, {{"memory.size", at_least(60 * kGiB)}}},
                                 {10, {{"cpu.count", at_least(9)}}}};
  Plan plan = bench.plan(program(softs));
  EXPECT_EQ(type_of(plan), "p3.2xlarge");
  ASSERT_EQ(plan.notes.size(), 2u);  // one for the system, not one for each machine
  EXPECT_EQ(plan.notes[0], "worker: soft features are not met, weight 10: no instance type is that large");
}

TEST_F(Plans, AGroupIsTakenOrDroppedWhole) {
  std::vector<ir::Soft> softs = {{5, {{"memory.size", at_least(8 * kGiB)}, {"gpu.count", at_least(2)}}}};
  EXPECT_EQ(type_of(bench.plan(program(softs))), "t3.medium");
}

TEST_F(Plans, WhatContradictsARequirementIsDropped) {
  std::vector<ir::Soft> softs = {{5, {{"disk.0.os.name", text("windows")}, {"cpu.count", at_least(8)}}},
                                 {1, {{"disk.0.os.name", text("Linux")}, {"cpu.count", at_least(4)}}}};
  Plan plan = bench.plan(program(softs));
  EXPECT_EQ(type_of(plan), "m5.xlarge");
  ASSERT_EQ(plan.notes.size(), 2u);
  EXPECT_NE(plan.notes[0].find("weight 5: disk.0.os.name contradicts a requirement"), std::string::npos)
      << plan.notes[0];
}

TEST(Softs, ScoreIsTheSumOfWhatWasTaken) {
  ir::Node node;
  node.softs = {{8, {{"a", at_least(1)}}}, {4, {{"b", at_least(1)}}}, {1.5, {{"c", at_least(1)}}}};
  SoftOutcome outcome = resolve_softs(node, [](const ir::Node& wanted) {
    return wanted.requirements.contains("b") ? invalid("no b") : ok_status();
  });
  EXPECT_EQ(outcome.score, 9.5);
  EXPECT_EQ(outcome.most, 13.5);
  EXPECT_EQ(outcome.dropped, (std::vector<std::string>{"weight 4: no b"}));
  EXPECT_TRUE(outcome.node.requirements.contains("c"));
  EXPECT_FALSE(outcome.node.requirements.contains("b"));
}

// Requirements of a group reach the cloud: its disks are created, and its applications are known.
TEST(Softs, DisksAndApplicationsOfAGroupThatIsTaken) {
  ir::Node node;
  ir::Requirement programs;
  programs.equals = ir::Json::array({{{"name", "git"}, {"version", "2"}}});
  node.softs = {{2, {{"disk.1.size", at_least(10 * kGiB)}, {"disk.0.applications", programs}}},
                {1, {{"disk.2.size", at_least(1)}}}};
  SoftOutcome outcome = resolve_softs(node, [](const ir::Node& wanted) {
    return wanted.disks.size() > 2 ? invalid("two disks at most") : ok_status();
  });
  ASSERT_EQ(outcome.node.disks.size(), 2u);
  EXPECT_EQ(outcome.node.disks[1].index, 1);
  EXPECT_EQ(outcome.node.disks[1].size_bytes, 10 * kGiB);
  ASSERT_EQ(outcome.node.applications.size(), 1u);
  EXPECT_EQ(outcome.node.applications[0].name, "git");
  EXPECT_EQ(outcome.dropped, (std::vector<std::string>{"weight 1: two disks at most"}));
}

TEST(Softs, TwoWantsTogether) {
  ir::Requirement four = at_least(4), most = at_least(2);
  most.max = 8;
  auto united = both(four, most);
  ASSERT_TRUE(united.ok());
  EXPECT_EQ(*united->min, 4);
  EXPECT_EQ(*united->max, 8);
  most.max = 4;
  EXPECT_TRUE(both(four, most).ok());
  most.max_strict = true;  // at least 4 and less than 4
  EXPECT_FALSE(both(four, most).ok());
  EXPECT_FALSE(both(four, text("4")).ok());

  ir::Requirement images, image = text("one://a/2");
  images.equals = ir::Json({"one://a/1", "one://a/2"});
  EXPECT_EQ(*both(images, image)->equals, "one://a/2");
  EXPECT_FALSE(both(images, text("one://a/3")).ok());

  ir::Requirement slurm, gcc;
  slurm.equals = ir::Json::array({{{"name", "slurm"}, {"version", "22"}}});
  gcc.equals = ir::Json::array({{{"name", "gcc"}}, {{"name", "slurm"}, {"path", "/opt"}}});
  EXPECT_EQ(*both(slurm, gcc)->equals,
            ir::Json::array({{{"name", "slurm"}, {"version", "22"}, {"path", "/opt"}}, {{"name", "gcc"}}}));
  gcc.equals->at(1)["version"] = "23";
  EXPECT_FALSE(both(slurm, gcc).ok());

  ir::Requirement newer, older;
  newer.versions = {{">=", "20.04"}};
  older.versions = {{"<", "24"}};
  EXPECT_EQ(both(newer, older)->versions.size(), 2u);
  older.versions = {{">=", "22.04"}};
  EXPECT_FALSE(both(newer, older).ok());
}

}  // namespace
}  // namespace radl::test

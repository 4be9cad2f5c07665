// Promises that hold for every program: random ones, with random faults, from fixed seeds.
#include <gtest/gtest.h>

#include <random>

#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

constexpr double kGiB = 1073741824.0;

ir::Program random_program(std::mt19937& random) {
  static const char* kSystems[] = {"server", "worker", "store"};
  ProgramBuilder builder;
  std::vector<std::string> systems;
  for (const char* system : kSystems) {
    int count = static_cast<int>(random() % 4);
    if (count == 0) continue;
    builder.deploy({system, count, (1.0 + random() % 3) * kGiB});
    systems.push_back(system);
  }
  if (systems.empty()) return builder.build();
  int recipes = static_cast<int>(random() % 4);
  for (int i = 0; i < recipes; ++i) {
    const std::string& system = systems[random() % systems.size()];
    ir::Json content = "v" + std::to_string(random() % 3);
    if (random() % 4 == 0) content = ir::unknown(systems[0] + "[0].private_ip");
    builder.file(system, "r" + std::to_string(i), "/f" + std::to_string(i), content);
    if (random() % 3 == 0) builder.barrier("step/" + std::to_string(i));
  }
  if (systems.size() > 1 && random() % 2)
    builder.train(systems[0], systems[1], random() % 2 ? "resnet20" : "lenet");
  if (random() % 2) builder.output("ip", ir::unknown(systems[0] + "[0].ip"));
  return builder.build();
}

void random_faults(std::mt19937& random, Bench& bench, const ir::Program& program) {
  static const Code kCodes[] = {Code::Retry, Code::Lost,    Code::Quota,
                                Code::Auth,  Code::Timeout, Code::Internal};
  static const char* kCalls[] = {"create", "destroy", "look"};
  for (unsigned i = random() % 6; i-- > 0;) {
    bench.cloud.fail_next(
        {kCalls[random() % 3], "", Status(kCodes[random() % 6], "fault"), random() % 2 == 0});
  }
  for (const ir::Step& step : program.steps) {
    if (random() % 5 == 0) bench.runner.errors[step.id] = {Status(kCodes[random() % 6], "fault")};
  }
}

size_t wanted_machines(const ir::Program& program) {
  return program.nodes.empty() ? 0 : program.nodes.size() + 2;
}

TEST(Property, AfterApplyOfAnyProgramToAnyStateThereAreNoChanges) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Bench bench;
    for (int round = 0; round < 3; ++round) {
      ir::Program program = random_program(random);
      RunReport report = bench.apply(program);
      ASSERT_TRUE(report.status.ok()) << report.status.text();
      Plan again = bench.plan(program);
      ASSERT_FALSE(again.changes_anything()) << to_json(again).dump(1);
      ASSERT_EQ(bench.cloud.count(), wanted_machines(program));
    }
    ASSERT_TRUE(bench.destroy().status.ok());
    ASSERT_EQ(bench.cloud.count(), 0u);
  }
}

TEST(Property, WhateverFailsApplyingAgainConverges) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed + 1000);
    Bench bench;
    bench.options.attempts = 2;
    ir::Program program;
    for (int round = 0; round < 3; ++round) {
      program = random_program(random);
      random_faults(random, bench, program);
      for (int attempt = 0; attempt < 12 && !bench.apply(program).status.ok(); ++attempt) {
      }
      ASSERT_FALSE(bench.plan(program).changes_anything()) << to_json(bench.plan(program)).dump(1);
      ASSERT_EQ(bench.snapshot().open_intents, 0u);
      for (const auto& [address, count] : bench.cloud.count_by_address()) ASSERT_EQ(count, 1) << address;
      std::set<std::string> there, recorded;
      for (const auto& [address, count] : bench.cloud.count_by_address()) there.insert(address);
      for (const auto& [address, record] : bench.snapshot().resources) recorded.insert(address);
      ASSERT_EQ(there, recorded);
      ASSERT_EQ(bench.cloud.count(), wanted_machines(program));
    }
    random_faults(random, bench, program);
    for (int attempt = 0; attempt < 12 && !bench.destroy().status.ok(); ++attempt) {
    }
    ASSERT_EQ(bench.cloud.count(), 0u);
  }
}

TEST(Property, APlanReadFromItsJsonIsThatPlan) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    std::mt19937 random(seed + 2000);
    Bench bench;
    ASSERT_TRUE(bench.apply(random_program(random)).status.ok());
    Plan plan = bench.plan(random_program(random));
    Result<Plan> read = plan_from_json(to_json(plan));
    ASSERT_TRUE(read.ok()) << read.status().text();
    EXPECT_EQ(to_json(*read), to_json(plan));
    EXPECT_EQ(render_text(*read), render_text(plan));
  }
}

}  // namespace
}  // namespace radl::test

// A saved plan is applied exactly or refused.
#include "runtime/plan/plan_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "common/files.h"
#include "tests/support/paths.h"
#include "tests/support/plan_bench.h"
#include "tests/support/temporary_folder.h"

namespace radl::test {
namespace {

class PlanFile : public testing::Test {
 protected:
  PlanFile() {
    program =
        ProgramBuilder().deploy({"server", 2}).file("server", "app", "/a", ir::secret("input.pw")).build();
    bench.secrets = {{"input.pw", "hunter2"}};
    bench.cloud.offers = {{"small", "a", Money::of(0.1, "EUR"), {{"type", "small"}}},
                          {"large", "b", Money::of(0.2, "EUR"), {{"type", "large"}}}};
    bench.cloud.volume_price = Money::of(0.01);
    bench.surveys["local"] = {1e9, {{"zones", {"a", "b"}}}};
    saved = {bench.plan(program), program, ".radl", {{"n", "2"}}, {"a.radl", "b.radl"}, {"shared"}};
    bytes = encode_plan_file(saved);
  }
  PlanBench bench;
  TemporaryFolder folder;
  ir::Program program;
  SavedPlan saved;
  std::string bytes;
};

TEST_F(PlanFile, RoundTrips) {
  Result<SavedPlan> read = decode_plan_file(bytes);
  ASSERT_TRUE(read.ok()) << read.status().text();
  EXPECT_EQ(to_json(read->plan), to_json(saved.plan));
  EXPECT_EQ(ir::to_json(read->program), ir::to_json(program));
  EXPECT_EQ(read->inputs, saved.inputs);
  EXPECT_EQ(read->files, saved.files);
  EXPECT_EQ(read->module_path, saved.module_path);
  EXPECT_EQ(encode_plan_file(*read), bytes);
}

// Else the fuzzer, which begins with it, would see nothing but refusals.
TEST_F(PlanFile, TheFuzzersSeedIsAPlanOfThisVersion) {
  const std::string seed = *read_file(source_dir() + "/tests/fuzz/runtime/seeds/plan_file/first.json");
  Result<SavedPlan> read =
      decode_plan_file("radlplan " + std::to_string(kPlanVersion) + " " + sha256_hex(seed) + "\n" + seed);
  EXPECT_TRUE(read.ok()) << read.status().text();
}

TEST_F(PlanFile, HoldsNoSecret) { EXPECT_EQ(bytes.find("hunter2"), std::string::npos); }

TEST_F(PlanFile, EveryTruncationIsRefused) {
  for (size_t size = 0; size < bytes.size(); size += size < 120 ? 1 : 37) {
    Result<SavedPlan> read = decode_plan_file(bytes.substr(0, size));
    ASSERT_FALSE(read.ok()) << size;
    EXPECT_EQ(read.status().code(), size > 0 ? Code::Corrupt : Code::Invalid) << size;
  }
}

TEST_F(PlanFile, AChangedByteIsRefused) {
  for (size_t at = 80; at < bytes.size(); at += 101) {
    std::string changed = bytes;
    changed[at] ^= 1;
    EXPECT_FALSE(decode_plan_file(changed).ok()) << at;
  }
}

TEST_F(PlanFile, OtherFilesAndOtherVersionsAreNamed) {
  EXPECT_NE(decode_plan_file("{\"plan\": 1}").status().message().find("not a plan file"), std::string::npos);
  EXPECT_NE(decode_plan_file("radlplan 3 abc\n{}").status().message().find("newer radlc"), std::string::npos);
  EXPECT_NE(decode_plan_file("radlplan 1 abc\n{}").status().message().find("older radlc"), std::string::npos);
  Json other = to_json(saved.plan);
  other["plan"] = 3;
  EXPECT_NE(plan_from_json(other).status().message().find("newer radlc"), std::string::npos);
  other["plan"] = 1;
  EXPECT_NE(plan_from_json(other).status().message().find("older radlc"), std::string::npos);
  EXPECT_EQ(plan_from_json(Json::object()).status().code(), Code::Invalid);
  Json strange = to_json(saved.plan);
  strange["actions"][0]["verb"] = "explode";
  EXPECT_EQ(plan_from_json(strange).status().code(), Code::Invalid);
}

TEST_F(PlanFile, IsRefusedWhenTheStateMovedOn) {
  EXPECT_EQ(check_state_unmoved(saved.plan, Snapshot()).code(), Code::Conflict) << "that one is gone";
  EXPECT_TRUE(check_state_unmoved(saved.plan, bench.snapshot).ok());
  Snapshot later = bench.snapshot, other = bench.snapshot;
  ++later.serial;
  EXPECT_EQ(check_state_unmoved(saved.plan, later).code(), Code::Conflict);
  other.lineage = "another";
  EXPECT_EQ(check_state_unmoved(saved.plan, other).code(), Code::Conflict);
}

TEST_F(PlanFile, OfAFirstPlanFitsTheStateThatApplyHasJustMade) {
  bench.snapshot.lineage.clear();
  Plan first = bench.plan(program);
  Snapshot made;
  made.lineage = "fresh";
  EXPECT_TRUE(check_state_unmoved(first, made).ok());
  made.serial = 1;
  EXPECT_EQ(check_state_unmoved(first, made).code(), Code::Conflict);
}

TEST_F(PlanFile, IsRefusedWhenASourceMovedOn) {
  std::string path = folder.path() + "/a.radl";
  ASSERT_TRUE(write_file_atomic(path, "one").ok());
  saved.plan.sources = {{path, sha256_hex("one")}, {"<stdlib>/training.radl", "x"}};
  EXPECT_TRUE(check_sources_unmoved(saved.plan).ok());
  ASSERT_TRUE(write_file_atomic(path, "two").ok());
  Status moved = check_sources_unmoved(saved.plan);
  EXPECT_EQ(moved.code(), Code::Conflict);
  EXPECT_NE(moved.message().find(path), std::string::npos);
  std::filesystem::remove(path);
  EXPECT_EQ(check_sources_unmoved(saved.plan).code(), Code::Conflict);
}

}  // namespace
}  // namespace radl::test

// What exists is taken into the state: on a simulated cloud, whose things have ids, phases and owners as
// those of a real one do.
#include <gtest/gtest.h>

#include "runtime/clouds/simulated/simulated_cloud.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

struct ImportTest : testing::Test, Bench {
  ImportTest() {
    auto made = simulated::SimulatedCloud::make({}, fake.clock);
    EXPECT_TRUE(made.ok()) << made.status().text();
    account = std::move(*made);
    clouds = {};
    clouds.add(*account);
    clouds.fallback = "simulated";
    program = ProgramBuilder().deploy({"worker", 2}).build();
  }

  Result<ResourceRecord> import(const std::string& address, const std::string& id) {
    std::unique_ptr<Store> opened = store();
    EXPECT_TRUE(opened->lock("import", std::chrono::milliseconds(0)).ok());
    Result<Plan> made = try_plan(program, *opened->snapshot());
    if (!made.ok()) return std::move(made).status();
    return import_resource(run(*opened, &program), *made, address, id);
  }
  void forget(const std::string& address) {
    std::unique_ptr<Store> opened = store();
    EXPECT_TRUE(opened->lock("state rm", std::chrono::milliseconds(0)).ok());
    EXPECT_TRUE(opened->remove_resource(address).ok());
  }
  std::string id_of(const std::string& address) { return snapshot().resources.at(address).id; }

  std::unique_ptr<simulated::SimulatedCloud> account;
  ir::Program program;
};

TEST_F(ImportTest, WhatWasForgottenIsTakenInAgainAndNothingIsMadeTwice) {
  ASSERT_TRUE(apply(program).status.ok());
  for (const char* address : {"worker[1]", "worker[0]"}) {
    const std::string id = id_of(address);
    const ResourceRecord before = snapshot().resources.at(address);
    forget(address);
    EXPECT_EQ(marks(plan(program)).front(), std::string("+ ") + address);
    Result<ResourceRecord> taken = import(address, id);
    ASSERT_TRUE(taken.ok()) << taken.status().text();
    EXPECT_EQ(taken->token, before.token) << "a request that is repeated finds it";
    EXPECT_EQ(snapshot().resources.at(address).attributes, before.attributes);
    Result<Observed> observed = look(program);
    ASSERT_TRUE(observed.ok()) << observed.status().text();
    EXPECT_TRUE(marks(plan(program, &*observed)).empty());
  }
  ASSERT_TRUE(destroy().status.ok());
  EXPECT_TRUE(account->infrastructures().empty());
}

TEST_F(ImportTest, WhatDiffersFromTheFileIsShownByTheNextPlan) {
  ASSERT_TRUE(apply(program).status.ok());
  const std::string id = id_of("worker[0]");
  forget("worker[0]");
  ASSERT_TRUE(account->tamper(id, {{"image", "another"}}).ok());
  ASSERT_TRUE(import("worker[0]", id).ok());
  const Plan next = plan(program);
  ASSERT_EQ(marks(next), (std::vector<std::string>{"-/+ worker[0]"}));
  EXPECT_EQ(next.actions[0].changes.at(0).field, "image");
}

TEST_F(ImportTest, AnotherKindOfResourceIsRejectedAndChangesNothing) {
  ASSERT_TRUE(apply(program).status.ok());
  const std::string id = id_of("worker[0]"), network = id_of("network.lan");
  EXPECT_EQ(import("worker[0]", id).status().code(), Code::Exists);
  forget("worker[0]");
  const long long serial = snapshot().serial;
  EXPECT_EQ(import("worker[0]", id_of("worker[1]")).status().code(), Code::Exists)
      << "another address has it";
  Status unknown = import("worker[0]", "i-ffffffff").status();
  EXPECT_EQ(unknown.code(), Code::NotFound);
  EXPECT_NE(unknown.hint().find(id), std::string::npos) << "what could be meant is named: " << unknown.text();
  EXPECT_EQ(import("worker[7]", id).status().code(), Code::NotFound) << "the file has no such node";
  forget("network.lan");
  Status other = import("worker[0]", network).status();
  EXPECT_EQ(other.code(), Code::Invalid) << other.text();
  EXPECT_EQ(snapshot().serial, serial + 1) << "only what was forgotten";
  ASSERT_TRUE(account->remove(id).ok());
  EXPECT_EQ(import("worker[0]", id).status().code(), Code::NotFound) << "it is gone";
}

}  // namespace
}  // namespace radl::test

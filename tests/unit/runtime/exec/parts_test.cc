// Resources that take more than one request, and machines whose host key is learned.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/exec/host_keys.h"
#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

constexpr const char* kKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFirst";
constexpr const char* kOther = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOther";

ir::Program one_node() { return ProgramBuilder().deploy({"worker", 1}).build(); }

// Of a machine `host_name` is given by a request of its own.
struct PartsBench : Bench {
  PartsBench() { cloud.later = cloud.in_place = {"host_name"}; }
};

TEST(Parts, AreAllAskedForByTheSameRun) {
  PartsBench bench;
  RunReport report = bench.apply(one_node());
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_TRUE(bench.snapshot().resources.at("worker[0]").spec["host_name"].is_string());
  EXPECT_FALSE(bench.plan(one_node()).changes_anything());
}

TEST(Parts, ThatFailAreLeftToTheNextPlan) {
  PartsBench bench;
  bench.cloud.fail_next({"update", "worker[0]", invalid("not today")});
  RunReport report = bench.apply(one_node());
  EXPECT_EQ(report.status.message(), "worker[0]: not today");
  const Action* action = bench.plan(one_node()).find("worker[0]");
  ASSERT_TRUE(action);
  EXPECT_EQ(action->verb, Verb::Update) << "it is there and lacks its name";
  ASSERT_TRUE(bench.apply(one_node()).status.ok());
  EXPECT_FALSE(bench.plan(one_node()).changes_anything());
  EXPECT_EQ(bench.cloud.creates, 3) << "key, network and machine, each once";
}

TEST(Parts, AreAskedForAlsoWhereTheFirstAnswerWasLost) {
  PartsBench bench;
  bench.cloud.fail_next({"create", "worker[0]", Status(Code::Lost, "the connection broke"), true});
  RunReport report = bench.apply(one_node());
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_FALSE(bench.plan(one_node()).changes_anything());
}

TEST(HostKey, IsTakenAtTheFirstContactAndKept) {
  Bench bench;
  int asked = 0;
  bench.host_key = [&](const Json&, const Context&) -> Result<std::string> {
    return ++asked, std::string(kKey);
  };
  ASSERT_TRUE(bench.apply(one_node()).status.ok());
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").attributes["host_key"], kKey);
  ASSERT_TRUE(
      bench.apply(ProgramBuilder().deploy({"worker", 1}).file("worker", "more", "/tmp/more", "x").build())
          .status.ok());
  EXPECT_EQ(asked, 1);
}

TEST(HostKey, MustBeTheOneThatTheCloudTells) {
  Bench bench;
  bench.cloud.keys = {std::string("ecdsa-sha2-nistp256 AAAA root@x"), std::string(kOther) + " root@x"};
  bench.host_key = [&](const Json&, const Context&) -> Result<std::string> { return std::string(kKey); };
  RunReport report = bench.apply(one_node());
  EXPECT_EQ(report.status.code(), Code::Auth) << report.status.text();
  EXPECT_NE(report.status.text().find("host key mismatch"), std::string::npos);
  bench.cloud.keys = {std::string(kKey) + " root@worker"};
  EXPECT_TRUE(bench.apply(one_node()).status.ok());
}

std::string trust_in(Bench& bench) {
  return bench.snapshot().resources.at("worker[0]").attributes.value("host_key_from", "");
}

TEST(HostKey, TrustedOnFirstUseIsConfirmedByALaterRun) {
  Bench bench;
  bench.host_key = [&](const Json&, const Context&) -> Result<std::string> { return std::string(kKey); };
  ASSERT_TRUE(bench.apply(one_node()).status.ok());
  EXPECT_EQ(trust_in(bench), "first use");
  bench.cloud.keys = {std::string(kKey) + " root@worker"};
  ASSERT_TRUE(bench.apply(one_node()).status.ok());
  EXPECT_EQ(trust_in(bench), "cloud");
}

TEST(HostKey, ThatTheCloudTellsOtherwiseLaterEndsTheRunWhichTrustedIt) {
  Bench bench;
  bench.host_key = [&](const Json&, const Context&) -> Result<std::string> { return std::string(kKey); };
  bench.connector = [&](const ir::Node&, const Json&, const Context&) {
    bench.cloud.keys = {std::string(kOther) + " root@x"};
    return Result<std::unique_ptr<Remote>>(std::make_unique<NoRemote>());
  };
  EXPECT_EQ(bench.apply(one_node()).status.code(), Code::Auth);
  EXPECT_FALSE(bench.snapshot().resources.at("worker[0]").attributes.contains("host_key"));
  bench.cloud.keys = {std::string(kKey) + " root@worker"};
  bench.connector = always_connected();
  ASSERT_TRUE(
      bench.apply(ProgramBuilder().deploy({"worker", 1}).file("worker", "a", "/a", "x").build()).status.ok());
  EXPECT_EQ(trust_in(bench), "cloud");
}

struct Confirmed : EventSink {
  std::atomic<bool> seen{false};
  void emit(const Event& event) override {
    if (event.message.find("confirmed") != std::string::npos) seen = true;
  }
};

TEST(HostKey, ConfirmedForAMachineIsNotConfirmedForTheNextOne) {
  Bench bench;
  bench.host_key = [&](const Json&, const Context&) -> Result<std::string> { return std::string(kKey); };
  ASSERT_TRUE(bench.apply(one_node()).status.ok());
  bench.cloud.keys = {std::string(kKey) + " root@worker"};
  Confirmed confirmed;
  bench.sinks = {&confirmed};
  const ir::Program program = one_node();
  std::unique_ptr<Store> store = bench.store();
  ASSERT_TRUE(store->lock("apply", std::chrono::milliseconds(0)).ok());
  const radl::Run run = bench.run(*store, &program);
  Execution execution(run, *store->snapshot());
  HostKeyCheck check(execution);
  while (!confirmed.seen) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  bench.cloud.keys.clear();
  ResourceRecord next = *execution.resource("worker[0]");
  next.id = "another machine";
  execution.put(next);
  EXPECT_TRUE(check.end().ok());
  EXPECT_EQ(execution.resource("worker[0]")->attributes.value("host_key_from", ""), "first use");
}

TEST(HostKey, IsWaitedForWhileTheMachineBoots) {
  Bench bench;
  int asked = 0;
  bench.host_key = [&](const Json&, const Context&) -> Result<std::string> {
    if (++asked < 3) return Status(Code::Retry, "nobody answers with SSH yet");
    return std::string(kKey);
  };
  EXPECT_TRUE(bench.apply(one_node()).status.ok());
  EXPECT_EQ(asked, 3);
}

TEST(Owner, OthersCredentialsForgetNothing) {
  Bench bench;
  bench.cloud.account = "1111";
  ASSERT_TRUE(bench.apply(one_node()).status.ok());
  bench.cloud.account = "2222";
  const int looks = bench.cloud.looks;
  RunReport report = bench.apply(ProgramBuilder().deploy({"worker", 2}).build());
  EXPECT_EQ(report.status.code(), Code::Auth);
  EXPECT_NE(report.status.text().find("account 1111"), std::string::npos) << report.status.text();
  EXPECT_EQ(bench.destroy().status.code(), Code::Auth);
  EXPECT_EQ(bench.cloud.looks, looks);
  EXPECT_TRUE(bench.snapshot().resources.count("worker[0]"));
  bench.cloud.account = "1111";
  EXPECT_TRUE(bench.destroy().status.ok());
}

TEST(Address, AMachineWithoutAnAddressIsLookedAtUntilItHasOne) {
  Bench bench;
  bench.cloud.looks_without_address = 4;
  std::set<std::string> hosts;
  std::mutex mutex;
  bench.connector = [&](const ir::Node&, const Json& attributes, const Context&) {
    std::lock_guard guard(mutex);
    hosts.insert(attributes.at("host").get<std::string>());
    return Result<std::unique_ptr<Remote>>(std::make_unique<NoRemote>());
  };
  RunReport report =
      bench.apply(ProgramBuilder().deploy({"worker"}).file("worker", "app", "/a", "1").build());
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(hosts, std::set<std::string>{"127.0.0.1"});
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").attributes.at("host"), "127.0.0.1");
}

}  // namespace
}  // namespace radl::test

// apply does exactly the plan, in parallel, and what fails does not stop the rest.
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <thread>

#include "tests/support/runtime_bench.h"

namespace radl::test {
namespace {

ir::Program cluster(int workers) {
  return ProgramBuilder()
      .deploy({"server"})
      .deploy({"worker", workers})
      .file("server", "tools", "/a", "1")
      .file("worker", "tools", "/a", "1")
      .train("server", "worker")
      .build();
}

Status retry(const std::string& text = "try later") { return Status(Code::Retry, text); }

class ApplyTest : public testing::Test {
 protected:
  ActionOutcome outcome(const RunReport& report, const std::string& id) {
    for (const ActionOutcome& one : report.actions) {
      if (one.id == id) return one;
    }
    ADD_FAILURE() << id << " is not in the report";
    return {};
  }
  using State = ActionOutcome::State;
  Bench bench;
};

TEST_F(ApplyTest, MakesEverythingOnceAndRecordsIt) {
  RunReport report = bench.apply(cluster(2));
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(report.done(), 9u);
  EXPECT_EQ(bench.cloud.count("node"), 3u);
  EXPECT_EQ(bench.runner.ran.size(), 4u);
  EXPECT_EQ(bench.runner.ran.back().id, "training/cifar");
  Snapshot state = bench.snapshot();
  EXPECT_EQ(state.open_intents, 0u);
  EXPECT_TRUE(state.resources.at("worker[1]").reachable);
  EXPECT_EQ(state.resources.at("worker[1]").needs, (std::vector<std::string>{"key.local", "network.lan"}));
  EXPECT_EQ(state.steps.at("training/cifar").status, StepStatus::Done);
}

TEST_F(ApplyTest, APassingFaultIsTriedAgainAndNothingIsMadeTwice) {
  bench.cloud.fail_next({"create", "worker[0]", retry()});
  bench.cloud.fail_next({"create", "worker[1]", Status(Code::Lost, "no answer"), true});
  bench.runner.errors["worker[0]/tools"] = {Status(Code::Lost, "connection lost"), retry()};
  ASSERT_TRUE(bench.apply(cluster(2)).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 3u) << "the machine whose answer was lost is taken, not made again";
  EXPECT_GT(bench.fake.clock.passed(), 0) << "it waited before it tried again";
}

TEST_F(ApplyTest, ACloudThatAsksToWaitIsGivenThatTimeButNotMoreThanTenMinutes) {
  bench.cloud.fail_next({"create", "worker[0]", retry()});
  bench.cloud.retry_after = 300;
  ASSERT_TRUE(bench.apply(cluster(1)).status.ok());
  EXPECT_GE(bench.fake.clock.passed(), 300'000);
  EXPECT_LT(bench.fake.clock.passed(), 600'000);
  bench.cloud.fail_next({"destroy", "worker[0]", retry()});
  bench.cloud.retry_after = 86'400;
  const auto before = bench.fake.clock.passed();
  ASSERT_TRUE(bench.destroy().status.ok());
  EXPECT_GE(bench.fake.clock.passed() - before, 600'000);
  EXPECT_LT(bench.fake.clock.passed() - before, 700'000);
}

TEST_F(ApplyTest, AfterSoManyAttemptsItFails) {
  bench.options.attempts = 3;
  for (int i = 0; i < 3; ++i) bench.cloud.fail_next({"create", "worker[0]", retry()});
  RunReport report = bench.apply(cluster(2));
  EXPECT_EQ(report.status.code(), Code::Retry);
  EXPECT_EQ(bench.cloud.count("node"), 2u);
  EXPECT_EQ(bench.snapshot().open_intents, 0u) << "as it was looked up, nothing is open";
}

TEST_F(ApplyTest, AFinalErrorIsNotRepeated) {
  bench.cloud.fail_next({"create", "worker[0]", Status(Code::Quota, "no more machines")});
  EXPECT_EQ(bench.apply(cluster(1)).status.code(), Code::Quota);
  EXPECT_LT(bench.fake.clock.passed(), 100) << "nothing was waited for before another try";
}

TEST_F(ApplyTest, AFailedNodeDoesNotStopTheOthers) {
  bench.cloud.fail_next({"create", "worker[1]", Status(Code::Quota, "no more machines")});
  RunReport report = bench.apply(cluster(3));
  EXPECT_EQ(outcome(report, "worker[1]").state, State::Failed);
  EXPECT_EQ(outcome(report, "worker[1]/tools").state, State::Skipped);
  EXPECT_EQ(outcome(report, "worker[1]/tools").detail, "worker[1] failed");
  EXPECT_EQ(outcome(report, "training/cifar").state, State::Skipped);
  EXPECT_EQ(outcome(report, "worker[2]/tools").state, State::Done);
  EXPECT_TRUE(bench.apply(cluster(3)).status.ok()) << "the next apply finishes";
  EXPECT_EQ(bench.cloud.count("node"), 4u);
}

TEST_F(ApplyTest, AFailedNodeDoesNotHoldABarrier) {
  auto program = ProgramBuilder()
                     .deploy({"worker", 2})
                     .file("worker", "one", "/a", "1")
                     .barrier("step/1")
                     .file("worker", "two", "/b", "1")
                     .build();
  bench.runner.errors["worker[0]/one"] = {Status(Code::Invalid, "boom")};
  RunReport report = bench.apply(program);
  EXPECT_EQ(outcome(report, "worker[0]/two").state, State::Skipped);
  EXPECT_EQ(outcome(report, "worker[1]/two").state, State::Done);
}

TEST_F(ApplyTest, WhatComesAfterAFailureDoesNotRunAndNamesItThroughAnyNumberOfBarriers) {
  auto program = ProgramBuilder()
                     .deploy({"worker", 2})
                     .deploy({"server"})
                     .deploy({"client"})
                     .deploy({"other"})
                     .file("other", "own", "/a", "1")
                     .file("worker", "one", "/a", "1")
                     .after("one")
                     .file("server", "two", "/b", "1")
                     .after("two")
                     .file("client", "three", "/c", "1")
                     .build();
  bench.runner.errors["worker[0]/one"] = {Status(Code::Invalid, "boom")};
  RunReport report = bench.apply(program);
  EXPECT_EQ(report.status.message(), "worker[0]/one: boom");
  EXPECT_EQ(outcome(report, "worker[1]/one").state, State::Done);
  EXPECT_EQ(outcome(report, "server[0]/two").state, State::Skipped);
  EXPECT_EQ(outcome(report, "server[0]/two").detail, "worker[0]/one failed");
  EXPECT_EQ(outcome(report, "client[0]/three").state, State::Skipped);
  EXPECT_EQ(outcome(report, "client[0]/three").detail, "worker[0]/one failed");
  EXPECT_EQ(outcome(report, "other[0]/own").state, State::Done);
  EXPECT_EQ(bench.runner.ids(), (std::set<std::string>{"worker[1]/one", "worker[0]/one", "other[0]/own"}));
  RunReport again = bench.apply(program);
  EXPECT_TRUE(again.status.ok()) << again.status.text();
  EXPECT_EQ(outcome(again, "client[0]/three").state, State::Done);
}

// A machine that could not be made: nothing ran on it, and what comes after its steps waits for the next run
// too.
TEST_F(ApplyTest, WhatComesAfterAStepOfANodeThatCouldNotBeMadeDoesNotRun) {
  auto program = ProgramBuilder()
                     .deploy({"worker", 2})
                     .deploy({"server"})
                     .file("worker", "one", "/a", "1")
                     .after("one")
                     .file("server", "two", "/b", "1")
                     .build();
  bench.cloud.fail_next({"create", "worker[1]", Status(Code::Quota, "no more machines")});
  RunReport report = bench.apply(program);
  EXPECT_EQ(outcome(report, "worker[0]/one").state, State::Done);
  EXPECT_EQ(outcome(report, "server[0]/two").state, State::Skipped);
  EXPECT_EQ(outcome(report, "server[0]/two").detail, "worker[1] failed");
}

TEST_F(ApplyTest, WhatComesAfterAFailureRunsWhenItWasTriedAgainWithSuccess) {
  bench.options.on_error = OnError::Retry;
  auto program = ProgramBuilder()
                     .deploy({"worker"})
                     .deploy({"server"})
                     .file("worker", "one", "/a", "1")
                     .after("one")
                     .file("server", "two", "/b", "1")
                     .build();
  bench.runner.errors["worker[0]/one"] = {Status(Code::Invalid, "boom")};
  RunReport report = bench.apply(program);
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(outcome(report, "server[0]/two").state, State::Done);
}

TEST_F(ApplyTest, OnErrorRetryTriesWhatFailedAgain) {
  bench.options.on_error = OnError::Retry;
  bench.cloud.fail_next({"create", "worker[0]", Status(Code::Quota, "full just now")});
  RunReport report = bench.apply(cluster(1));
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(outcome(report, "training/cifar").state, State::Done);
}

// As of clouds that take a request and find only then that there is no room.
TEST_F(ApplyTest, AMachineThatBreaksForWantOfRoomIsRemovedAndTheNextOfferTaken) {
  for (const char* size : {"small", "large"}) {
    Offer offer;
    offer.name = size;
    offer.spec = {{"size", size}};
    bench.cloud.offers.push_back(offer);
  }
  bench.cloud.full = {"small"};
  RunReport report = bench.apply(cluster(1));
  ASSERT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").spec["size"], "large");
  EXPECT_EQ(bench.cloud.count("node"), 2u) << "nothing of the first ones is left";
  EXPECT_TRUE(marks(bench.plan(cluster(1))).empty()) << "what was taken stays";
}

TEST_F(ApplyTest, WithoutRoomForAnyOfferTheReasonIsTheClouds) {
  Offer offer;
  offer.name = "small";
  offer.spec = {{"size", "small"}};
  bench.cloud.offers = {offer};
  bench.cloud.full = {"small"};
  RunReport report = bench.apply(cluster(1));
  EXPECT_EQ(outcome(report, "worker[0]").status.code(), Code::Quota);
  EXPECT_NE(outcome(report, "worker[0]").status.message().find("no host has room for it"), std::string::npos);
  EXPECT_EQ(bench.cloud.count("node"), 0u);
}

TEST_F(ApplyTest, OnErrorDestroyTakesBackWhatThisRunMade) {
  ASSERT_TRUE(bench.apply(cluster(1)).status.ok());
  bench.options.on_error = OnError::Destroy;
  bench.runner.errors["worker[2]/tools"] = {Status(Code::Invalid, "boom")};
  EXPECT_FALSE(bench.apply(cluster(3)).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 2u) << "what was there before stays";
  EXPECT_EQ(bench.snapshot().resources.count("worker[2]"), 0u);
}

TEST_F(ApplyTest, ANodeThatNeverAnswersIsReplacedByTheNextRun) {
  std::atomic<bool> dead{true};
  Connector fine = always_connected();
  bench.connector = [&, fine](const ir::Node& node, const Json& attributes,
                              const Context& context) -> Result<std::unique_ptr<Remote>> {
    if (dead && node.address == "worker[0]") return Status(Code::Timeout, "connection timed out");
    return fine(node, attributes, context);
  };
  RunReport report = bench.apply(cluster(1));
  EXPECT_EQ(outcome(report, "worker[0]").status.code(), Code::Timeout);
  EXPECT_EQ(bench.snapshot().resources.at("worker[0]").status, ResourceStatus::Tainted);
  dead = false;
  EXPECT_EQ(marks(bench.plan(cluster(1)))[0], "-/+ worker[0]");
  ASSERT_TRUE(bench.apply(cluster(1)).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 2u);
}

TEST_F(ApplyTest, ARefusedKeyIsFinalAtOnce) {
  bench.connector = [](const ir::Node&, const Json&, const Context&) -> Result<std::unique_ptr<Remote>> {
    return Status(Code::Auth, "host key does not match");
  };
  EXPECT_EQ(bench.apply(cluster(1)).status.code(), Code::Auth);
  EXPECT_LT(bench.fake.clock.passed(), 100) << "nothing was waited for before another try";
}

TEST_F(ApplyTest, StepsGetTheirValuesAndSecrets) {
  bench.secrets = {{"input.pw", "hunter2"}};
  ir::Json content = {
      {"$join", {"ip=", ir::unknown("server[0].private_ip"), " pw=", ir::secret("input.pw")}}};
  auto program = ProgramBuilder().deploy({"server"}).file("server", "app", "/a", content).build();
  ASSERT_TRUE(bench.apply(program).status.ok());
  std::string text = bench.runner.ran.at(0).properties["content"];
  EXPECT_EQ(text.substr(0, 9), "ip=10.0.0");
  EXPECT_EQ(text.substr(text.size() - 10), "pw=hunter2");
  std::string database = *read_file(bench.folder.path() + "/.radl/demo/state.db");
  EXPECT_EQ(database.find("hunter2"), std::string::npos);
}

TEST_F(ApplyTest, AStepOfANodeRunsAloneAndNodesRunTogether) {
  auto program = ProgramBuilder().deploy({"worker", 6}).file("worker", "a", "/a", "1").build();
  bench.options.parallelism = 3;
  bench.runner.during = [](const StepContext&, const ir::Step&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  ASSERT_TRUE(bench.apply(program).status.ok());
  EXPECT_GT(bench.runner.most, 1);
  EXPECT_LE(bench.runner.most, 3);
  Bench one;
  auto same_node = ProgramBuilder()
                       .deploy({"worker"})
                       .file("worker", "a", "/a", "1")
                       .file("worker", "b", "/b", "1")
                       .build();
  for (ir::Step& step : same_node.steps) step.after.clear();
  one.runner.during = bench.runner.during;
  ASSERT_TRUE(one.apply(same_node).status.ok());
  EXPECT_EQ(one.runner.most, 1);
}

TEST_F(ApplyTest, TheFirstCtrlCFinishesCurrentActionsAndStartsNoOthers) {
  bench.options.parallelism = 1;
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    if (step.id != "server[0]/tools") return;
    bench.cancellation.request();
    EXPECT_FALSE(context.context->stop.asked()) << "a step in flight is finished";
  };
  RunReport report = bench.apply(cluster(2));
  EXPECT_EQ(report.status.code(), Code::Cancelled);
  EXPECT_EQ(outcome(report, "server[0]/tools").state, State::Done);
  EXPECT_EQ(outcome(report, "worker[0]/tools").state, State::Skipped);
  EXPECT_EQ(bench.snapshot().steps.at("server[0]/tools").status, StepStatus::Done);
  bench.runner.during = [](const StepContext&, const ir::Step&) {};
  Bench* again = &bench;
  again->cancellation.~Cancellation();
  new (&again->cancellation) Cancellation();
  bench.runner.ran.clear();
  ASSERT_TRUE(bench.apply(cluster(2)).status.ok());
  EXPECT_EQ(bench.runner.ids().count("server[0]/tools"), 0u) << "what was done is not done again";
}

TEST_F(ApplyTest, ATrainingStopsAtTheFirstCtrlCAndOthersAtTheSecond) {
  std::vector<bool> cancelled;
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    if (step.kind != ir::StepKind::Training) return;
    cancelled.push_back(context.context->stop.asked());
    bench.cancellation.request();
    cancelled.push_back(context.context->stop.asked());
  };
  bench.runner.errors["training/cifar"] = {Status(Code::Cancelled, "checkpoint written")};
  EXPECT_EQ(bench.apply(cluster(1)).status.code(), Code::Cancelled);
  EXPECT_EQ(cancelled, (std::vector<bool>{false, true}));
  EXPECT_EQ(bench.snapshot().steps.at("training/cifar").status, StepStatus::Interrupted);
  EXPECT_TRUE(bench.plan(cluster(1)).find("training/cifar")->resume);
}

TEST_F(ApplyTest, ARepeatedTrainingResumesFromItsCheckpoint) {
  bench.runner.errors["training/cifar"] = {Status(Code::Lost, "chief lost")};
  ASSERT_TRUE(bench.apply(cluster(1)).status.ok());
  std::vector<bool> resumed;
  for (const FakeRunner::Ran& ran : bench.runner.ran) {
    if (ran.id == "training/cifar") resumed.push_back(ran.resume);
  }
  EXPECT_EQ(resumed, (std::vector<bool>{false, true}));
}

// A node that is gone for good is waited for a minute and more at each attempt.
TEST_F(ApplyTest, ATrainingThatDoesNotGetUnderWayIsTriedTwice) {
  bench.runner.errors["training/cifar"].assign(5, Status(Code::Timeout, "server[0] does not answer"));
  bench.runner.during = [&](const StepContext&, const ir::Step& step) {
    if (step.id == "training/cifar") bench.fake.clock.sleep(std::chrono::minutes(5));
  };
  RunReport report = bench.apply(cluster(1));
  EXPECT_EQ(outcome(report, "training/cifar").state, State::Failed);
  EXPECT_EQ(bench.runner.errors["training/cifar"].size(), 3u);
}

TEST_F(ApplyTest, ATrainingThatIsLostWhileItRunsWellIsJoinedEachTime) {
  bench.runner.errors["training/cifar"].assign(5, Status(Code::Lost, "server[0] is lost"));
  bench.runner.during = [&](const StepContext& context, const ir::Step& step) {
    if (step.id != "training/cifar") return;
    context.under_way();
    bench.fake.clock.sleep(std::chrono::minutes(5));
  };
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
}

TEST_F(ApplyTest, OutputsAreWhatTheRunMadeKnown) {
  bench.secrets = {{"input.pw", "hunter2"}};
  auto program = ProgramBuilder()
                     .deploy({"server"})
                     .output("ip", ir::unknown("server[0].ip"))
                     .output("url", Json{{"$join", {"http://", ir::unknown("server[0].ip"), "/"}}})
                     .output("pw", ir::secret("input.pw"), true)
                     .build();
  RunReport report = bench.apply(program);
  ASSERT_EQ(report.outputs.size(), 3u);
  std::string ip = report.outputs[0].value;
  EXPECT_EQ(report.outputs[1].value, "http://" + ip + "/");
  EXPECT_TRUE(report.outputs[2].value.is_null());
  EXPECT_EQ(resolve_outputs(program, bench.snapshot(), &bench.secrets)[2].value, "hunter2");
  EXPECT_EQ(bench.snapshot().outputs[0].value, ip);
}

TEST_F(ApplyTest, AKindThatThisBuildCannotRunIsSaid) {
  auto program = cluster(1);
  program.steps[0].kind = ir::StepKind::CloudInit;
  program.steps[0].body = "x";
  RunReport report = bench.apply(program);
  EXPECT_EQ(outcome(report, "server[0]/tools").status.code(), Code::Unsupported);
}

// ---- a cloud that shows what it made only after a while

class SlowCloudTest : public ApplyTest {
 protected:
  SlowCloudTest() {
    bench.cloud.clock = &bench.fake.clock;
    bench.cloud.appears_after = std::chrono::seconds(20);
    bench.cloud.settle = std::chrono::seconds(30);
  }
  void lose_answers(const std::string& address, bool made) {
    bench.cloud.fail_next({"create", address, Status(Code::Lost, "no answer"), made});
  }
  void expect_whole(int workers) {
    std::map<std::string, int> once{{"key.local", 1}, {"network.lan", 1}, {"server[0]", 1}};
    for (int i = 0; i < workers; ++i) once["worker[" + std::to_string(i) + "]"] = 1;
    EXPECT_EQ(bench.cloud.count_by_address(), once);
    EXPECT_EQ(bench.snapshot().open_intents, 0u);
    EXPECT_EQ(bench.snapshot().resources.size(), once.size());
  }
};

TEST_F(SlowCloudTest, AnEmptyLookThatComesTooSoonProvesNothing) {
  lose_answers("worker[0]", true);
  RunReport report = bench.apply(cluster(2));
  EXPECT_TRUE(report.status.ok()) << report.status.text();
  EXPECT_EQ(bench.cloud.creates, 5) << "it was not asked for again";
  expect_whole(2);
}

TEST_F(SlowCloudTest, WhatWasNeverMadeIsAskedForAgainWhenThatIsCertain) {
  lose_answers("worker[0]", false);
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
  EXPECT_GE(bench.fake.clock.passed(), 30000);
  expect_whole(1);
}

TEST_F(SlowCloudTest, WhatWasAcceptedAndNeverShowsIsNamed) {
  bench.options.attempts = 1;
  bench.cloud.appears_after = std::chrono::hours(9);
  const RunReport report = bench.apply(cluster(1));
  EXPECT_EQ(report.status.code(), Code::Retry) << report.status.text();
  EXPECT_EQ(report.status.message(), "key.local: it was accepted and has vanished");
}

TEST_F(ApplyTest, AFailureNamesWhatItIsOfOnce) {
  ActionOutcome one;
  one.id = "worker[0]/tools";
  one.status = Status(Code::Retry, "no room").with_hint("make some");
  EXPECT_EQ(one.told().text(), "worker[0]/tools: no room (make some)");
  one.status = Status(Code::Retry, "no room on worker[0]");
  EXPECT_EQ(one.told().text(), "no room on worker[0]");
}

TEST_F(SlowCloudTest, ARefusalIsCertainAtOnce) {
  bench.cloud.appears_after = std::chrono::seconds(0);
  bench.cloud.fail_next({"create", "worker[0]", Status(Code::Quota, "no more machines")});
  EXPECT_EQ(bench.apply(cluster(1)).status.code(), Code::Quota);
  EXPECT_LT(bench.fake.clock.passed(), 100) << "nothing was waited for before another try";
  EXPECT_EQ(bench.snapshot().open_intents, 0u);
}

TEST_F(SlowCloudTest, StoppedBeforeItIsCertainTheIntentStaysOpenAndTheNextRunLooksOn) {
  lose_answers("worker[0]", true);
  struct StopWhileLooking : EventSink {
    Cancellation* cancellation = nullptr;
    void emit(const Event& event) override {
      if (event.message.find("not known yet") != std::string::npos) cancellation->request();
    }
  } stop;
  stop.cancellation = &bench.cancellation;
  bench.sinks = {&stop};
  EXPECT_EQ(bench.apply(cluster(1)).status.code(), Code::Cancelled);
  EXPECT_EQ(bench.snapshot().open_intents, 1u);
  EXPECT_EQ(bench.snapshot().resources.count("worker[0]"), 0u);
  bench.sinks.clear();
  bench.cancellation.~Cancellation();
  new (&bench.cancellation) Cancellation();
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
  expect_whole(1);
}

// The look itself fails: the intent stays open, and the next run finds first nothing and then the machine.
TEST_F(SlowCloudTest, FoundNothingThenPresent) {
  lose_answers("worker[0]", true);
  bench.cloud.fail_next({"look", "worker[0]", Status(Code::Auth, "not allowed")});
  EXPECT_FALSE(bench.apply(cluster(1)).status.ok());
  EXPECT_GE(bench.snapshot().open_intents, 1u);
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
  expect_whole(1);
  EXPECT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u);
}

TEST_F(SlowCloudTest, FoundNothingThenPresentIsDestroyedToo) {
  lose_answers("worker[0]", true);
  bench.cloud.fail_next({"look", "worker[0]", Status(Code::Auth, "not allowed")});
  EXPECT_FALSE(bench.apply(cluster(1)).status.ok());
  EXPECT_TRUE(bench.destroy().status.ok());
  EXPECT_EQ(bench.cloud.count(), 0u);
  EXPECT_EQ(bench.snapshot().open_intents, 0u);
}

// An old intent needs no more waiting: its request ended long ago.
TEST_F(SlowCloudTest, AnOldIntentIsCertainAtTheFirstLook) {
  lose_answers("worker[0]", false);
  bench.cloud.fail_next({"look", "worker[0]", Status(Code::Auth, "not allowed")});
  EXPECT_FALSE(bench.apply(cluster(1)).status.ok());
  bench.fake.clock.sleep(std::chrono::hours(2));
  long long before = bench.fake.clock.passed();
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
  EXPECT_LT(bench.fake.clock.passed(), before + 100);
  expect_whole(1);
}

// In the same run: the next round looks up uncertain outcomes before it requests
// anything.
TEST_F(SlowCloudTest, AnotherRoundDoesNotMakeItTwice) {
  bench.options.on_error = OnError::Retry;
  lose_answers("worker[0]", true);
  bench.cloud.fail_next({"look", "worker[0]", Status(Code::Auth, "not allowed")});
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
  expect_whole(1);
}

TEST_F(SlowCloudTest, ARefreshDoesNotReportANewResourceAsMissing) {
  bench.cloud.appears_after = std::chrono::seconds(0);
  ASSERT_TRUE(bench.apply(cluster(1)).status.ok());
  bench.cloud.appears_after = std::chrono::seconds(20);
  Result<Observed> observed = bench.look(cluster(1));
  EXPECT_TRUE(observed->resources.empty());
  EXPECT_EQ(observed->unknown.size(), 4u);
  EXPECT_FALSE(bench.plan(cluster(1), &*observed).changes_anything());
}

// ---- what throws

TEST_F(ApplyTest, AnExceptionIsTheFailureOfItsActionAndNoOthers) {
  bench.runner.during = [](const StepContext&, const ir::Step& step) {
    if (step.id == "worker[0]/tools") throw std::bad_alloc();
    if (step.id == "worker[1]/tools") throw std::runtime_error("odd");
  };
  RunReport report = bench.apply(cluster(3));
  EXPECT_EQ(outcome(report, "worker[0]/tools").state, State::Failed);
  EXPECT_EQ(outcome(report, "worker[0]/tools").status.code(), Code::Quota);
  EXPECT_EQ(outcome(report, "worker[0]/tools").status.message(), "out of memory");
  EXPECT_EQ(outcome(report, "worker[1]/tools").status.message(), "odd");
  EXPECT_EQ(outcome(report, "worker[2]/tools").state, State::Done);
  EXPECT_EQ(outcome(report, "training/cifar").state, State::Skipped);
  bench.runner.during = [](const StepContext&, const ir::Step&) {};
  EXPECT_TRUE(bench.apply(cluster(3)).status.ok());
}

TEST_F(ApplyTest, AnExceptionWhileANodeIsMadeLeavesItToTheNextRun) {
  std::atomic<bool> throws{true};
  bench.cloud.point = [&](const std::string& where) {
    if (where == "create 2 worker[0]" && throws.exchange(false)) throw std::bad_alloc();
  };
  RunReport report = bench.apply(cluster(1));
  EXPECT_EQ(outcome(report, "worker[0]").status.code(), Code::Quota);
  EXPECT_EQ(bench.snapshot().open_intents, 1u);
  EXPECT_TRUE(bench.apply(cluster(1)).status.ok());
  EXPECT_EQ(bench.cloud.count("node"), 2u);
}

TEST_F(ApplyTest, AnExceptionWhileLookingIsToldOfWhatWasLookedAt) {
  ASSERT_TRUE(bench.apply(cluster(1)).status.ok());
  bench.connector = [](const ir::Node& node, const Json&, const Context&) -> Result<std::unique_ptr<Remote>> {
    if (node.address == "worker[0]") throw std::bad_alloc();
    return std::unique_ptr<Remote>(std::make_unique<NoRemote>());
  };
  Result<Observed> observed = bench.look(cluster(1));
  ASSERT_TRUE(observed.ok());
  EXPECT_EQ(observed->unknown.at("worker[0]"), "out of memory");
  EXPECT_EQ(observed->steps.count("server[0]/tools"), 1u);
}

}  // namespace
}  // namespace radl::test

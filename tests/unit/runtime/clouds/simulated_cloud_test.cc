// What is the simulated cloud's own: its seed, its file, its faults by name, its prices, its size.
#include "runtime/clouds/simulated/simulated_cloud.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/files.h"
#include "tests/support/fake_world.h"
#include "tests/support/runtime_programs.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/runtime/clouds/cloud_user.h"

namespace radl::test {
namespace {

using simulated::Call;
using simulated::Faults;
using simulated::parse_faults;
using simulated::SimulatedCloud;

Context context_of(const std::string& infrastructure) {
  Context context{.environment = environment_of_process()};
  context.infrastructure = infrastructure;
  return context;
}

std::unique_ptr<SimulatedCloud> cloud_with(simulated::Options options, Clock& clock) {
  auto made = SimulatedCloud::make(std::move(options), clock);
  EXPECT_TRUE(made.ok()) << made.status().text();
  return made.ok() ? std::move(*made) : nullptr;
}

// A whole life with every fault, as a text of all calls and what came of them.
std::string life(uint64_t seed) {
  FakeClock clock;
  std::string told;
  simulated::Options options;
  options.seed = seed;
  options.faults = *parse_faults("all");
  options.on_call = [&](const Call& call) {
    if (call.moment == Call::Moment::Done)
      told += call.kind + " " + call.address + ": " + call.outcome + "\n";
  };
  auto cloud = cloud_with(options, clock);
  CloudUser user(*cloud, clock, context_of("demo-1"));
  ir::Program program = ProgramBuilder().deploy({"worker", 5}).build();
  EXPECT_TRUE(user.make_all(*user.design(program)).ok());
  EXPECT_TRUE(user.sweep().ok());
  return told + std::to_string(clock.passed());
}

TEST(SimulatedCloud, TheSameSeedIsTheSameLifeAndAnotherIsNot) {
  EXPECT_EQ(life(7), life(7));
  EXPECT_NE(life(7), life(8));
}

TEST(SimulatedFaults, AreSwitchedByName) {
  EXPECT_EQ(*parse_faults(""), Faults());
  EXPECT_EQ(*parse_faults("all,none"), Faults());
  Faults some = *parse_faults("throttling, latency=0.5");
  EXPECT_EQ(some.throttling, 0.1);
  EXPECT_EQ(some.latency, 0.5);
  EXPECT_EQ(some.errors, 0);
  EXPECT_EQ(parse_faults("throttling=0", some)->throttling, 0);
  for (const char* text : {"all", "none", "consistency=12.5,page_size=3,in_use=0", "all,boot=1"})
    EXPECT_EQ(*parse_faults(faults_text(*parse_faults(text))), *parse_faults(text)) << text;
}

TEST(SimulatedFaults, WhatCannotBeIsRefusedWithAdvice) {
  EXPECT_EQ(parse_faults("throtling").status().hint(), "did you mean throttling?");
  EXPECT_EQ(parse_faults("page_size=0").status().code(), Code::Invalid);
  EXPECT_EQ(parse_faults("errors=1").status().code(), Code::Invalid);
  EXPECT_EQ(parse_faults("latency=-1").status().code(), Code::Invalid);
  EXPECT_EQ(parse_faults("latency=x").status().code(), Code::Invalid);
  EXPECT_EQ(parse_faults("in_use=2").status().code(), Code::Invalid);
}

class SimulatedAccount : public testing::Test {
 protected:
  SimulatedCloud& start(simulated::Options options = {}) {
    cloud_ = cloud_with(std::move(options), clock_);
    user_ = std::make_unique<CloudUser>(*cloud_, clock_, context_of("demo-1"));
    return *cloud_;
  }
  Design design(const ir::Program& program) {
    auto made = user_->design(program);
    EXPECT_TRUE(made.ok()) << made.status().text();
    return *made;
  }
  void make(const ir::Program& program) {
    Status made = user_->make_all(design(program));
    ASSERT_TRUE(made.ok()) << made.text();
  }
  std::vector<std::string> addresses(const Design& design) {
    std::vector<std::string> all;
    for (const Wanted& wanted : design.resources) all.push_back(wanted.type + " " + wanted.address);
    return all;
  }

  FakeClock clock_;
  std::unique_ptr<SimulatedCloud> cloud_;
  std::unique_ptr<CloudUser> user_;
};

ir::Program with_everything() {
  ir::Program program = ProgramBuilder().deploy({"server"}).build();
  ir::Network open;
  open.address = "network.open";
  open.name = "open";
  open.is_public = true;
  program.networks.push_back(open);
  ir::Interface interface;
  interface.index = 1;
  interface.network = "open";
  program.nodes[0].interfaces.push_back(interface);
  ir::Disk data;
  data.index = 1;
  data.size_bytes = 100.0 * 1073741824;
  program.nodes[0].disks.push_back(data);
  return program;
}

TEST_F(SimulatedAccount, DesignsEveryResourceInItsOwnWords) {
  start();
  Design all = design(with_everything());
  EXPECT_EQ(addresses(all), (std::vector<std::string>{"key_pair key.simulated:/eu", "network network.lan",
                                                      "network network.open", "security_group group.open",
                                                      "volume volume.server[0].1",
                                                      "address address.server[0]", "instance server[0]"}));
  EXPECT_EQ(all.resources.back().references,
            (std::vector<std::string>{"key.simulated:/eu", "network.lan", "network.open", "group.open",
                                      "volume.server[0].1", "address.server[0]"}));
}

TEST_F(SimulatedAccount, OffersWhatFitsFromTheCheapestOn) {
  start();
  ir::Program program = ProgramBuilder().deploy({"worker", 1, 6e9}).build();
  std::vector<Offer> offers = design(program).resources.back().offers;
  ASSERT_EQ(offers.size(), 6u);
  EXPECT_EQ(offers.front().name + "/" + offers.front().zone, "s1.large/a");
  EXPECT_EQ(offers[3].name, "m1.large");
  EXPECT_EQ(offers.front().price_per_hour, Money::of(0.0832, "EUR"));
  EXPECT_EQ(offers.front().spec, (Json{{"type", "s1.large"}, {"zone", "a"}}));
  EXPECT_TRUE(std::is_sorted(offers.begin(), offers.end(), [](const Offer& a, const Offer& b) {
    return a.price_per_hour.micros < b.price_per_hour.micros;
  }));
  program.nodes[0].requirements["gpu.count"].min = 1;
  EXPECT_EQ(design(program).resources.back().offers.front().name, "g1.xlarge");
}

TEST_F(SimulatedAccount, AnotherRegionIsAnotherCloudWithPricesOfItsOwn) {
  simulated::Options us;
  us.id.region = "us";
  start(us);
  ir::Program program = ProgramBuilder().deploy({"worker"}).build();
  Design all = design(program);
  EXPECT_EQ(all.resources.front().address, "key.simulated:/us");
  EXPECT_EQ(all.resources.back().offers.front().price_per_hour.currency, "USD");
  simulated::Options nowhere;
  nowhere.id.region = "mars";
  EXPECT_EQ(SimulatedCloud::make(nowhere, clock_).status().code(), Code::Invalid);
}

TEST_F(SimulatedAccount, ASurveyListsSoldOutTypesLast) {
  start();
  ir::Program program = ProgramBuilder().deploy({"worker", 1, 6e9}).build();
  Survey survey;
  survey.facts = {{"sold_out", {"s1.large/a"}}};
  std::vector<Offer> offers = user_->design(program, survey)->resources.back().offers;
  EXPECT_EQ(offers.front().zone, "b");
  EXPECT_EQ(offers.back().name + "/" + offers.back().zone, "s1.large/a");
}

TEST_F(SimulatedAccount, ImpactGoesByValues) {
  SimulatedCloud& cloud = start();
  using Kind = Impact::Kind;
  EXPECT_EQ(cloud.impact("volume", {{"size_bytes", 1.0}}, {{"size_bytes", 2.0}}).kind, Kind::InPlace);
  EXPECT_EQ(cloud.impact("volume", {{"size_bytes", 2.0}}, {{"size_bytes", 1.0}}).kind, Kind::Replace);
  EXPECT_EQ(cloud.impact("instance", {{"type", "s1.small"}}, {{"type", "s1.large"}}).kind, Kind::Restart);
  EXPECT_EQ(cloud.impact("instance", {{"image", "a"}}, {{"image", "b"}}).kind, Kind::Replace);
  EXPECT_EQ(cloud.impact("instance", {{"state", "stopped"}}, {{"state", "running"}}).kind, Kind::InPlace);
  EXPECT_EQ(cloud.impact("security_group", {{"rules", 1}}, {{"rules", 2}}).kind, Kind::InPlace);
  EXPECT_FALSE(cloud.impact("volume", {{"size_bytes", 2.0}}, {{"size_bytes", 1.0}}).why.empty());
}

TEST_F(SimulatedAccount, AResourceInUseCannotBeDestroyedBeforeItsUser) {
  SimulatedCloud& cloud = start();
  make(with_everything());
  for (const char* address : {"network.lan", "group.open", "volume.server[0].1", "address.server[0]"}) {
    Order order;
    order.id = user_->made.at(address).id;
    Asked asked = cloud.ask_destroy(user_->context(), order);
    EXPECT_EQ(asked.status.code(), Code::Retry) << address;
    EXPECT_TRUE(cloud.exists(order.id));
  }
  ASSERT_TRUE(user_->destroy("server[0]", "instance", user_->made.at("server[0]").id).ok());
  EXPECT_TRUE(user_->destroy("volume.server[0].1", "volume", user_->made.at("volume.server[0].1").id).ok());
}

TEST_F(SimulatedAccount, BillsForTheTimeThatAResourceExists) {
  SimulatedCloud& cloud = start();
  make(with_everything());
  clock_.sleep(std::chrono::hours(10));
  // s1.small at 0.0192 an hour, 100 GiB at 0.00011, an address at 0.005.
  EXPECT_EQ(cloud.standing("demo-1").billed.total()->micros, 10 * (19200 + 11000 + 5000));
  EXPECT_EQ(cloud.standing("demo-1").price_per_hour.total()->micros, 19200 + 11000 + 5000);
  ASSERT_TRUE(user_->sweep().ok());
  MoneySum billed = cloud.standing("demo-1").billed;
  clock_.sleep(std::chrono::hours(10));
  EXPECT_EQ(cloud.standing("demo-1").billed, billed) << "nothing costs anything any more";
  EXPECT_TRUE(cloud.standing("demo-1").left.empty());
}

TEST_F(SimulatedAccount, TwoWithOneAddressAreCountedAsDoubled) {
  SimulatedCloud& cloud = start();
  make(ProgramBuilder().deploy({"worker"}).build());
  EXPECT_TRUE(cloud.standing("demo-1").doubled.empty());
  Order order = user_->order(user_->wanted.at("worker[0]"), 0, user_->token());
  ASSERT_EQ(cloud.ask_create(user_->context(), order).answer, Asked::Answer::Accepted);
  EXPECT_EQ(cloud.standing("demo-1").doubled, std::vector<std::string>{"worker[0]"});
}

TEST_F(SimulatedAccount, AMachineIsPreemptedWithNotice) {
  int stopped = 0, vanished = 0, noticed = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    simulated::Options options;
    options.seed = seed;
    options.faults.preemption = 0.9;
    SimulatedCloud& cloud = start(options);
    make(ProgramBuilder().deploy({"worker"}).build());
    std::string id = user_->made.at("worker[0]").id;
    bool had_notice = false;
    for (int minute = 0; minute < 20; ++minute) {
      clock_.sleep(std::chrono::minutes(1));
      std::vector<Seen> seen = *user_->look({.ids = {id}});
      if (seen.empty()) break;
      had_notice |= seen.front().phase == ResourcePhase::Ready && !seen.front().detail.empty();
    }
    std::vector<Seen> seen = *user_->look({.ids = {id}});
    vanished += seen.empty();
    stopped += !seen.empty() && seen.front().phase == ResourcePhase::Stopped;
    noticed += had_notice;
    EXPECT_EQ(cloud.exists(id), !seen.empty());
  }
  EXPECT_GT(stopped, 3);
  EXPECT_GT(vanished, 3);
  EXPECT_EQ(noticed, stopped + vanished) << "none without notice";
}

TEST_F(SimulatedAccount, AnEventuallyConsistentListShowsThingsLateAndForgetsThemLate) {
  simulated::Options options;
  options.faults.consistency = 60;
  SimulatedCloud& cloud = start(options);
  int shown_late = 0, gone_late = 0;
  for (int i = 0; i < 20; ++i) {
    Order order;
    order.type = "key_pair";
    order.address = "key." + std::to_string(i);
    order.token = user_->token();
    std::string id = cloud.ask_create(user_->context(), order).id;
    shown_late += user_->look({.ids = {id}})->empty();
    clock_.sleep(cloud.settles_after());
    EXPECT_EQ(user_->look({.ids = {id}})->size(), 1u);
    order.id = id;
    (void)cloud.ask_destroy(user_->context(), order);
    EXPECT_FALSE(cloud.exists(id));
    gone_late += !user_->look({.ids = {id}})->empty();
    clock_.sleep(cloud.settles_after());
    EXPECT_TRUE(user_->look({.ids = {id}})->empty());
  }
  EXPECT_GT(shown_late, 10);
  EXPECT_GT(gone_late, 10);
}

// ---- the file ----

TEST_F(SimulatedAccount, AnAccountInAFileOutlivesItsProcess) {
  TemporaryFolder folder;
  simulated::Options options;
  options.file = folder.path() + "/cloud";
  options.faults.foreign = 6;
  start(options);
  make(with_everything());
  auto before = cloud_->standing("demo-1");
  std::string token = user_->made.at("server[0]").token;
  cloud_.reset();
  start(options);
  auto after = cloud_->standing("demo-1");
  EXPECT_EQ(after.left, before.left);
  EXPECT_EQ(after.billed, before.billed);
  EXPECT_EQ(cloud_->foreign_left(), 6u) << "others are not put there again";
  EXPECT_EQ(user_->look({.tokens = {token}})->size(), 1u);
  ASSERT_TRUE(user_->sweep().ok());
  cloud_.reset();
  start(options);
  EXPECT_TRUE(cloud_->standing("demo-1").left.empty());
  EXPECT_TRUE(cloud_->standing("demo-1").billed == after.billed) << "nothing was free of charge";
}

TEST_F(SimulatedAccount, AKillLeavesWhatWasDoneUntilThen) {
  for (int n = 1; n <= 8; ++n) {
    SCOPED_TRACE(n);
    TemporaryFolder folder;
    simulated::Options options;
    options.file = folder.path() + "/cloud";
    pid_t child = ::fork();
    if (child == 0) {
      int done = 0;
      options.on_call = [&](const Call& call) {
        if (call.kind == "create" && call.moment == Call::Moment::Done && ++done == n)
          ::kill(::getpid(), SIGKILL);
      };
      start(options);
      make(with_everything());
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    start(options);
    EXPECT_EQ(cloud_->standing("demo-1").left.size(), std::min<size_t>(static_cast<size_t>(n), 7));
    EXPECT_TRUE(cloud_->standing("demo-1").doubled.empty());
    cloud_.reset();
  }
}

TEST_F(SimulatedAccount, AFileCutInTheMiddleOfALineLosesThatChangeAlone) {
  TemporaryFolder folder;
  simulated::Options options;
  options.file = folder.path() + "/cloud";
  start(options);
  make(ProgramBuilder().deploy({"worker"}).build());
  cloud_.reset();
  std::string text = *read_file(options.file);
  ASSERT_TRUE(write_file_atomic(options.file, text + R"({"resource":{"id":"i-)").ok());
  start(options);
  EXPECT_EQ(cloud_->standing("demo-1").left.size(), 3u);
}

TEST_F(SimulatedAccount, AFileIsOfOneCloudAndOneProcess) {
  TemporaryFolder folder;
  simulated::Options options;
  options.file = folder.path() + "/cloud";
  start(options);
  EXPECT_EQ(SimulatedCloud::make(options, clock_).status().code(), Code::Conflict);
  cloud_.reset();
  options.id.region = "us";
  EXPECT_EQ(SimulatedCloud::make(options, clock_).status().code(), Code::Invalid);
  ASSERT_TRUE(write_file_atomic(options.file, "something else\n").ok());
  EXPECT_EQ(SimulatedCloud::make(options, clock_).status().code(), Code::Corrupt);
}

// ---- size ----

TEST_F(SimulatedAccount, TenThousandMachinesTakeCallsInProportion) {
  simulated::Options options;
  SimulatedCloud& cloud = start(options);
  make(ProgramBuilder().deploy({"worker", 10000}).build());
  EXPECT_EQ(cloud.standing("demo-1").left.size(), 10002u);
  auto calls = cloud.calls();
  EXPECT_EQ(calls["create"], 10002);
  std::vector<Seen> seen = *user_->look({.everything = true});
  EXPECT_EQ(seen.size(), 10002u);
  EXPECT_EQ(cloud.calls()["look"] - calls["look"], 101) << "pages of 100";
}

}  // namespace
}  // namespace radl::test

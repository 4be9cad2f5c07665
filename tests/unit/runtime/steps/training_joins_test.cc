// Workers that join a training which runs, and what one look at its nodes finds of it.
#include <atomic>
#include <thread>

#include "runtime/base/job_members.h"
#include "runtime/steps/training/found.h"
#include "runtime/steps/training/leader.h"
#include "runtime/steps/training/tasks.h"
#include "tests/unit/runtime/steps/training_case.h"

namespace radl {
namespace {

using test::TrainingTest;
using test::wait_until;
using training::Found;
using training::Layout;
using Look = jobs::Member::Look;
using Phase = jobs::ProcessState::Phase;

struct TrainingJoins : TrainingTest {
  // Runs on the nodes of the step, and waits before its end.
  void leave_running() {
    std::atomic<bool> left{false};
    context.lets_go = [&] { return left.load(); };
    std::thread user([&] {
      wait_for_steps();
      std::ofstream(job_file("server[0]", "hold")) << "on";
      left = true;
    });
    auto outcome = run();
    user.join();
    ASSERT_EQ(outcome.status().code(), kLeftRunning) << outcome.status().text();
    context.lets_go = [] { return false; };
  }
  void use_workers(const std::vector<std::string>& workers) {
    handles.erase(std::remove_if(handles.begin(), handles.end(),
                                 [&](const NodeHandle& handle) {
                                   return handle.address != "server[0]" &&
                                          std::find(workers.begin(), workers.end(), handle.address) ==
                                              workers.end();
                                 }),
                  handles.end());
    step.nodes = {"server[0]"};
    for (const std::string& worker : workers) {
      step.nodes.push_back(worker);
      const bool is_new = std::none_of(handles.begin(), handles.end(),
                                       [&](const NodeHandle& handle) { return handle.address == worker; });
      if (is_new) handles.push_back(nodes.handle(worker));
    }
    step.training["cluster"]["worker"] = workers;
  }
  Result<StepOutcome> run_until_started(const std::string& node, const std::string& task) {
    std::thread release([&] {
      EXPECT_TRUE(wait_until([&] { return engines_of(node, task) == 1; })) << task;
      std::filesystem::remove(job_file("server[0]", "hold"));
    });
    auto outcome = run();
    release.join();
    return outcome;
  }
};

TEST_F(TrainingJoins, AnAddedNodesWorkerJoinsTheRunningTraining) {
  leave_running();
  use_workers({"worker[0]", "worker[1]", "worker[2]"});
  auto outcome = run_until_started("worker[2]", "worker-2");
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  for (const auto& [node, task] : {std::pair("server[0]", "ps/0\n"),
                                   {"worker[0]", "worker/0\n"},
                                   {"worker[1]", "worker/1\n"},
                                   {"worker[2]", "worker/2\n"}})
    EXPECT_EQ(*read_file(job_file(node, "starts")), task) << "once";
  const Json job = Json::parse(*read_file(job_file("worker[2]", "job-worker-2.json")));
  EXPECT_EQ(job["cluster"]["worker"].size(), 3u);
  EXPECT_EQ(job["task"]["index"], 2);
}

// Its number is the one that nobody has, and the others keep theirs.
TEST_F(TrainingJoins, AWorkerTakesTheNumberOfOneThatHasLeft) {
  leave_running();
  const std::string left = job_file("worker[0]", "worker-0.pid");
  kill(-std::atoi(read_file(left)->c_str()), SIGKILL);
  use_workers({"worker[1]", "worker[2]"});
  auto outcome = run_until_started("worker[2]", "worker-0");
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(job_file("worker[1]", "starts")), "worker/1\n");
  EXPECT_EQ(*read_file(job_file("worker[2]", "starts")), "worker/0\n");
}

// A run was killed after it had prepared the node, or the node has a folder of an older run.
TEST_F(TrainingJoins, AFolderWithoutItsWorkerIsNoReasonToStartTheTrainingAgain) {
  leave_running();
  use_workers({"worker[0]", "worker[1]", "worker[2]"});
  const std::string folder = std::filesystem::path(job_file("worker[2]", "x")).parent_path();
  for (const std::string& earlier : {step.digest, std::string("collected another")}) {
    ASSERT_TRUE(make_directories(folder).ok());
    ASSERT_TRUE(write_file_atomic(folder + "/run.json", earlier).ok());
    ASSERT_TRUE(write_file_atomic(folder + "/worker-7.exit", "0").ok());
    std::atomic<bool> started{false};
    context.lets_go = [&] { return started.load(); };
    std::thread user([&] {
      EXPECT_TRUE(wait_until([&] { return engines_of("worker[2]", "worker-2") == 1; }));
      started = true;
    });
    auto outcome = run();
    user.join();
    ASSERT_EQ(outcome.status().code(), kLeftRunning) << outcome.status().text();
    EXPECT_EQ(*read_file(job_file("server[0]", "starts")), "ps/0\n") << "it was not started again";
    const std::string pid = job_file("worker[2]", "worker-2.pid");
    kill(-std::atoi(read_file(pid)->c_str()), SIGKILL);
    std::filesystem::remove_all(folder);
  }
  context.lets_go = [] { return false; };
  std::filesystem::remove(job_file("server[0]", "hold"));
  EXPECT_TRUE(run().ok());
}

TEST_F(TrainingJoins, ARunThatOnlyJoinsStartsNothingThatDoesNotRun) {
  context.only_joins = true;
  EXPECT_EQ(run().status().code(), kLeftRunning);
  EXPECT_EQ(engines(), 0u);
  context.only_joins = false;
  leave_running();
  context.only_joins = true;
  use_workers({"worker[0]", "worker[1]", "worker[2]"});
  context.lets_go = [] { return true; };
  EXPECT_EQ(run().status().code(), kLeftRunning);
  EXPECT_EQ(engines_of("worker[2]", "worker-2"), 1u) << "it lets go once the worker was started";
  context.only_joins = false;
  context.lets_go = [] { return false; };
  std::filesystem::remove(job_file("server[0]", "hold"));
  auto outcome = run();
  ASSERT_TRUE(outcome.ok()) << outcome.status().text();
  EXPECT_EQ(*read_file(job_file("server[0]", "starts")), "ps/0\n");
}

struct FindTraining : testing::Test {
  FindTraining() {
    training = {{"cluster", {{"chief", {"a"}}, {"ps", Json::array()}, {"worker", {"a", "b", "c"}}}},
                {"job", {{"sync", {{"mode", "allreduce"}}}, {"dataset", Json::object()}}}};
    for (const char* address : {"a", "b", "c"}) {
      nodes.emplace_back();
      nodes.back().address = address;
    }
    looks.resize(3);
  }
  void has(size_t node, const std::string& process, Phase phase, int exit = -1) {
    looks[node].run = "run";
    looks[node].processes.push_back({process, {phase, exit}});
  }
  Found find() {
    layout = *training::make_layout(training, nodes);
    return training::find_training(training, nodes, looks, "run", layout);
  }
  int number_on(size_t node) { return layout.on(node).at(0).index; }
  Json training;
  std::vector<NodeHandle> nodes;
  std::vector<Look> looks;
  Layout layout;
};

TEST_F(FindTraining, WorkersKeepTheirNumbersAndOthersGetTheLowestFreeOnes) {
  has(0, "worker-0", Phase::Running);
  has(2, "worker-1", Phase::Running);
  Found found = find();
  EXPECT_TRUE(found.joinable());
  EXPECT_EQ(found.without, std::set<size_t>{1});
  EXPECT_EQ(number_on(2), 1);
  EXPECT_EQ(number_on(1), 2);
}

TEST_F(FindTraining, AWorkerThatHasLeftGivesItsNumberAway) {
  has(0, "worker-0", Phase::Running);
  has(1, "worker-1", Phase::Ended);
  looks[1].cancelled = true;  // by `radlc scale`, and it is back now
  has(2, "worker-1", Phase::Running);
  Found found = find();
  EXPECT_TRUE(found.joinable());
  EXPECT_EQ(found.without, std::set<size_t>{1});
  EXPECT_EQ(number_on(2), 1);
  looks[1].cancelled = false;
  EXPECT_EQ(find().without, std::set<size_t>{1}) << "the number is another's now";
}

TEST_F(FindTraining, ALostWorkerIsNotMissedAndALostChiefHasASuccessor) {
  has(0, "worker-0", Phase::Running);
  has(1, "worker-1", Phase::Ended, 3);
  has(2, "worker-2", Phase::Running);
  Found found = find();
  EXPECT_TRUE(found.joinable());
  EXPECT_TRUE(found.without.empty());
  EXPECT_EQ(layout.chief, 0u);
  looks[0].processes[0].second.phase = Phase::Ended;
  EXPECT_TRUE(find().joinable());
  EXPECT_EQ(layout.chief, 2u) << "it runs";
  looks[2].processes[0].second = {Phase::Ended, 1};
  EXPECT_FALSE(find().whole) << "none runs, and none has ended well";
  looks[2].processes[0].second = {Phase::Ended, 0};
  EXPECT_TRUE(find().joinable());
  EXPECT_EQ(layout.chief, 2u);
}

TEST_F(FindTraining, OneOfSeveralServersMayBeLostAlsoTheChief) {
  training["job"]["sync"]["mode"] = "async";
  training["cluster"] = {{"chief", {"a"}}, {"ps", {"a", "b"}}, {"worker", {"c"}}};
  has(0, "ps-0", Phase::Running);
  has(1, "ps-1", Phase::Ended, -1);
  has(2, "worker-0", Phase::Running);
  EXPECT_TRUE(find().joinable());
  looks[1].processes[0].second.phase = Phase::Running;
  looks[0].processes[0].second = {Phase::Ended, -1};
  EXPECT_TRUE(find().joinable());
  looks[1].processes[0].second = {Phase::Ended, -1};
  EXPECT_FALSE(find().whole);
}

TEST_F(FindTraining, AnotherRunOnANodeIsNotThisTraining) {
  has(0, "worker-0", Phase::Running);
  has(1, "worker-1", Phase::Running);
  looks[0].run = looks[1].run = "another";
  EXPECT_FALSE(find().same);
  looks[0].run = "run";
  has(2, "worker-2", Phase::Running);
  EXPECT_EQ(find().without, std::set<size_t>{1}) << "what runs on a worker's node is ended there";
}

TEST(JobMembers, ATrainingContinuesWithoutNodesOfWorkersWhileOthersWork) {
  Json training = {
      {"cluster", {{"chief", {"s"}}, {"ps", {"s"}}, {"worker", {"w0", "w1", "s"}}}},
  };
  EXPECT_TRUE(continues_without(training, {"w0", "w1"}));
  EXPECT_FALSE(continues_without(training, {"w0", "s"})) << "a server";
  training["cluster"]["worker"] = {"w0", "w1"};
  EXPECT_TRUE(continues_without(training, {"w0"}));
  EXPECT_FALSE(continues_without(training, {"w0", "w1"})) << "nobody works";
  training = {{"cluster", {{"chief", {"w0"}}, {"ps", Json::array()}, {"worker", {"w0", "w1", "w2"}}}},
              {"job", {{"sync", {{"mode", "allreduce"}}}}}};
  EXPECT_TRUE(continues_without(training, {"w1", "w2"}));
  EXPECT_TRUE(continues_without(training, {"w0"})) << "it is the chief, and has a successor";
  EXPECT_FALSE(continues_without(training, {"w0", "w1", "w2"}));
  training["cluster"]["worker"] = {"w0"};
  EXPECT_FALSE(has_workers_only(training, "w0"));
}

struct TrainingLeader : FindTraining {
  TrainingLeader() { layout = *training::make_layout(training, nodes); }
  bool says(const std::string& task, const std::string& event, const Json& more) {
    Json line = {{"event", event}, {"task", task}};
    line.update(more);
    return leader.take(line);
  }
  training::Standing now(const std::map<std::string, int>& ends) {
    return training::standing(layout, leader.task(), leader.finished(), ends);
  }
  training::Leader leader{layout, 0};
};

TEST_F(TrainingLeader, TheTaskThatLeadsFromTheLatestBatchOnCounts) {
  EXPECT_FALSE(says("worker/0", "started", {{"step", 0}, {"test_images", 10}}));
  EXPECT_FALSE(says("worker/1", "started", {{"steps", 40}})) << "a worker like others";
  EXPECT_TRUE(says("worker/2", "chief", {{"step", 30}}));
  EXPECT_FALSE(says("worker/1", "chief", {{"step", 20}})) << "an earlier one, heard late";
  EXPECT_EQ(leader.task(), 2u);
  EXPECT_FALSE(leader.finished());
  EXPECT_TRUE(says("worker/1", "finished", {{"step", 40}, {"test_accuracy", 0.5}}));
  EXPECT_FALSE(says("worker/2", "chief", {{"step", 50}}));
  EXPECT_EQ(leader.task(), 1u);
  EXPECT_TRUE(leader.finished());
}

TEST_F(TrainingLeader, ATrainingStandsAsItsLeaderDoes) {
  EXPECT_EQ(now({{"worker-0", -1}}).failed, nullptr) << "another one takes over";
  EXPECT_NE(now({{"worker-0", 1}}).failed, nullptr) << "what is wrong for one is wrong for all";
  EXPECT_FALSE(now({{"worker-0", 0}}).done) << "the chief may still write the model";
  says("worker/1", "chief", {{"step", 3}});
  EXPECT_FALSE(now({{"worker-0", -1}, {"worker-2", 0}}).done);
  says("worker/1", "finished", {{"step", 9}, {"test_accuracy", 0.5}});
  EXPECT_TRUE(now({{"worker-0", -1}, {"worker-1", 0}}).done);
  EXPECT_NE(now({{"worker-0", -1}, {"worker-1", 2}, {"worker-2", 2}}).failed, nullptr);
}

TEST(TrainingLayout, TakesTheAddressesOfARunningTraining) {
  Layout layout;
  layout.tasks = {{"ps", 0, 0, 0}, {"worker", 0, 1, 0}};
  std::vector<NodeHandle> nodes(3);
  for (auto& node : nodes) node.attributes = {{"private_ip", "10.0.0.4"}};
  const Json cluster = {{"ps", {"[::1]:21000"}}, {"worker", {"10.0.0.2:21001"}}};
  const std::string job = Json{{"cluster", cluster}}.dump();
  auto found = training::cluster_of(job, layout, nodes);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(*found, cluster);
  for (const char* bad : {"", "{", "[]", "{}", R"({"cluster": {"ps": ["host:1"]}})",
                          R"({"cluster": {"ps": ["host:1"], "worker": [2]}})"})
    EXPECT_EQ(training::cluster_of(bad, layout, nodes).status().code(), Code::Corrupt) << bad;
  layout.tasks.push_back({"worker", 1, 2, 21009});
  found = training::cluster_of(job, layout, nodes);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)["worker"], (Json{"10.0.0.2:21001", "10.0.0.4:21009"}));
  layout.tasks.push_back({"worker", 3, 2, 21011});
  found = training::cluster_of(job, layout, nodes);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)["worker"].size(), 2u) << "up to the number that nobody has";
}

}  // namespace
}  // namespace radl

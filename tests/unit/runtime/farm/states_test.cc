// The states of a task, also in a cluster's queue, and why one waits.
#include <gtest/gtest.h>

#include "runtime/farm/farm.h"

namespace radl::farm {
namespace {

const Resources kOneTask{1000, 0, 0, 0};

// Its length is that on the machine, not that in the queue.
TEST(FarmCluster, AnAttemptInAClustersQueueHasNotBegun) {
  Farm farm;
  ASSERT_TRUE(farm.apply(cluster_event("login", {2000, 0, 0, 0}, {{2000, 0, 0, 0}}, 0)).ok());
  ASSERT_TRUE(farm.apply(add_event({"a", {1000, 0, 0, 0}, 0, Json::object()}, 0)).ok());
  ASSERT_TRUE(farm.apply(start_event("a", 1, "login", 10)).ok());
  ASSERT_TRUE(farm.apply(queued_event("a", 1, "Priority", 11)).ok());
  EXPECT_EQ(farm.table().find("a")->queued, "Priority");
  EXPECT_FALSE(farm.apply(runs_event("a", 2, "n0", 60)).ok()) << "another attempt";
  ASSERT_TRUE(farm.apply(runs_event("a", 1, "n0", 60)).ok());
  EXPECT_EQ(farm.table().find("a")->queued, "");
  EXPECT_EQ(farm.table().find("a")->started, 60);
  ASSERT_TRUE(farm.apply(end_event("a", 1, End::Failed, 1, "", 70)).ok());
  EXPECT_EQ(farm.table().find("a")->failed_machines, std::vector<std::string>{"n0"});
  ASSERT_TRUE(farm.apply(start_event("a", 2, "login", 80)).ok());
  EXPECT_EQ(farm.table().find("a")->machine, "");
  ASSERT_TRUE(farm.apply(runs_event("a", 2, "n1", 90)).ok());
  ASSERT_TRUE(farm.apply(end_event("a", 2, End::Succeeded, 0, "", 95)).ok());
  EXPECT_EQ(farm.predicted({"b", {}, 0, Json::object()}), 5);
}

TEST(FarmReasons, SayWhatIsMissingAndWhatWouldChangeIt) {
  Farm farm;
  const auto why = [&](const Resources& needs, const std::string& failed_on = "") {
    TaskRecord task;
    task.task.needs = needs;
    if (!failed_on.empty()) task.failed_on = {failed_on};
    return farm.why_waiting(task);
  };
  const auto says = [](const std::string& text, const std::vector<std::string>& words) {
    for (const std::string& word : words)
      EXPECT_NE(text.find(word), std::string::npos) << text << " / " << word;
  };
  says(why(kOneTask), {"no node takes tasks", "add nodes"});
  ASSERT_TRUE(farm.apply(node_event("a", {4000, 1 << 20, 0, 0}, 0)).ok());
  says(why({8000, 0, 0, 0}), {"needs 8 processors", "more than 4", "needs.cpu"});
  says(why({1000, 1 << 21, 0, 0}), {"memory", "needs.memory"});
  says(why({1000, 0, 2, 0}), {"2 GPUs", "needs.gpu"});
  says(why({4000, 0, 0, 0}), {"starts next", "a has room"});
  ASSERT_TRUE(farm.apply(add_event({"t", {3000, 0, 0, 0}, 0, Json::object()}, 0)).ok());
  ASSERT_TRUE(farm.apply(start_event("t", 1, "a", 1)).ok());
  says(why({2000, 0, 0, 0}), {"needs 2 processors", "a has 1 processor free", "more nodes", "needs.cpu"});
  ASSERT_TRUE(farm.apply(node_event("b", {1000, 1 << 20, 0, 0}, 0)).ok());
  ASSERT_TRUE(farm.apply(add_event({"u", kOneTask, 0, Json::object()}, 0)).ok());
  ASSERT_TRUE(farm.apply(start_event("u", 1, "b", 1)).ok());
  says(why(kOneTask, "a"), {"failed on a", "waits for another node", "b has 0 processors free"});
}

// Distributo's states: waiting -> started -> finished or failed; a lost node's job waits again. What it does
// not know, a job that ends without having started or starts twice, is refused and changes nothing.
TEST(FarmStates, AreDistributos) {
  struct Case {
    std::vector<Event> events;  // of task "t"; the last one is tested
    bool taken;
    State state;
  };
  const Event start = start_event("t", 1, "a", 1), well = end_event("t", 1, End::Succeeded, 0, "", 2),
              badly = end_event("t", 1, End::Failed, 1, "", 2),
              lost = end_event("t", 1, End::Lost, -1, "", 2),
              preempted = end_event("t", 1, End::Preempted, -1, "", 2), commit = commit_event("t", 1, 3),
              again = start_event("t", 2, "a", 4);
  const Case cases[] = {
      {{start}, true, State::Running},
      {{well}, false, State::Waiting},
      {{commit}, false, State::Waiting},
      {{again}, false, State::Waiting},
      {{start, start}, false, State::Running},
      {{start, well}, true, State::Running},
      {{start, commit}, false, State::Running},
      {{start, badly}, true, State::Failed},
      {{start, lost}, true, State::Waiting},
      {{start, preempted}, true, State::Waiting},
      {{start, lost, well}, false, State::Waiting},
      {{start, lost, again}, true, State::Running},
      {{start, well, commit}, true, State::Finished},
      {{start, well, badly}, true, State::Failed},  // its output cannot be brought
      {{start, well, lost}, true, State::Waiting},
      {{start, badly, again}, false, State::Failed},
      {{start, badly, well}, false, State::Failed},
      {{start, well, commit, again}, false, State::Finished},
      {{start, well, commit, lost}, false, State::Finished},
  };
  for (const Case& each : cases) {
    Policy policy;
    policy.rules.tries = 1;
    Farm farm(policy);
    ASSERT_TRUE(farm.apply(node_event("a", {1000, 0, 0, 0}, 0)).ok());
    ASSERT_TRUE(farm.apply(add_event({"t", kOneTask, 0, Json::object()}, 0)).ok());
    for (size_t i = 0; i + 1 < each.events.size(); ++i) ASSERT_TRUE(farm.apply(each.events[i]).ok());
    EXPECT_EQ(farm.apply(each.events.back()).ok(), each.taken) << Json(each.events).dump();
    EXPECT_EQ(state_name(farm.table().find("t")->state), state_name(each.state)) << Json(each.events).dump();
  }
}

}  // namespace
}  // namespace radl::farm

// Farms in virtual time, with a world that loses, delays and preempts. Each run is determined by its seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <queue>
#include <random>
#include <set>

#include "runtime/farm/farm.h"
#include "runtime/farm/search.h"

namespace radl::farm {
namespace {

struct Faults {
  double preempted = 0;     // chance that an attempt ends by a preemption of its node
  double lost = 0;          // chance that nobody hears the end of an attempt until its lease is over
  double failed = 0;        // chance that an attempt fails by itself
  double killed = 0;        // chance that the scheduler is killed after an event
  double unbrought = 0;     // chance that the node is lost while an output is on its way
  double stopped = 0;       // chance that the search asks an attempt to end in its middle
  bool black_hole = false;  // node n0 fails everything
};

class Simulation {
 public:
  Simulation(uint32_t seed, int nodes, int tasks, Faults faults, std::optional<size_t> kill_at = {})
      : seed_(seed), random_(seed), faults_(faults), kill_at_(kill_at) {
    for (int i = 0; i < nodes; ++i) record(node_event("n" + std::to_string(i), {2000, 8000, 0, 0}, 0));
    for (int i = 0; i < tasks; ++i) {
      const Resources needs{1000 * static_cast<int64_t>(1 + random_() % 2),
                            static_cast<int64_t>(random_() % 8000), 0, 0};
      record(add_event({"t" + std::to_string(i), needs, 0, {{"content", i}}}, 0));
    }
  }

  void run() {
    for (int rounds = 0; !farm_.table().is_over(); ++rounds) {
      ASSERT_LT(rounds, 100000) << "no end";
      for (auto events = farm_.next(now_); !events.empty(); events = farm_.next(now_)) {
        for (const Event& event : events) {
          record(event);
          if (event["event"] == "start") begin(event);
        }
      }
      ASSERT_FALSE(world_.empty()) << "nothing runs, and tasks are left";
      const Ahead next = world_.top();
      world_.pop();
      now_ = std::max(now_, next.at);
      if (next.process >= 0 && next.process != process_)
        continue;  // an answer to a scheduler that was killed
      if (next.published) published_late(next);
      if (next.event["event"] == "commit") {
        commit(next.event);
      } else if (next.event["event"] == "end" && next.event["how"] != "lost" &&
                 next.event["how"] != "preempted") {
        ended_.emplace(id_of(next.event), next.event);
        ended(next.event);
      } else if (record(next.event) && next.event["event"] == "stop") {
        stopped(next.event);
      }
    }
  }

  // Restarts the scheduler from its journal alone. All else that it knew is lost; nodes tell all ends again.
  void restart() {
    Farm again(patient());
    for (const Event& event : journal_) (void)again.apply(event);
    ASSERT_EQ(again.table().to_json(), farm_.table().to_json());
    farm_ = std::move(again);
    ending_.clear();
    ++process_;
    ++restarts;
    for (const auto& [id, event] : ended_) ahead(1, event);
  }

  const Table& table() const { return farm_.table(); }
  size_t events() const { return journal_.size(); }
  std::map<std::string, std::vector<int>> outputs;  // by task: content of each time that it was published
  int restarts = 0;

 private:
  struct Ahead {
    double at;
    size_t number;
    Event event;
    bool published;  // a process that ends unheard: a zombie
    int process;     // the scheduler that hears it; -1: any
    bool operator<(const Ahead& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  // Here it is always the node's fault.
  Policy patient() const {
    Policy policy;
    policy.rules.lost = 1000;
    return policy;
  }

  double chance() { return static_cast<double>(random_()) / 4294967296.0; }

  // Fixed per attempt: killing a scheduler does not change what tasks do.
  double chance(const Event& event, uint32_t what) const {
    const auto attempt = static_cast<uint64_t>(event["attempt"].get<int>());
    const uint64_t task = std::stoul(event["task"].get<std::string>().substr(1));
    // SplitMix64: a generator with much state would take the time of the test.
    uint64_t mixed = seed_ * 1000003ULL + task * 10007 + attempt * 101 + what;
    mixed = (mixed + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 30)) * 0x94d049bb133111eb;
    mixed ^= mixed >> 31;
    return static_cast<double>(mixed >> 11) / 9007199254740992.0;
  }

  static std::string id_of(const Event& event) {
    return event["task"].get<std::string>() + "." + event["attempt"].dump();
  }

  bool record(const Event& event) {
    if (!farm_.apply(event).ok()) return false;
    journal_.push_back(event);
    kill();
    return true;
  }

  void kill() {
    if (kill_at_ ? journal_.size() == *kill_at_ : chance() < faults_.killed) restart();
  }

  // A task that was asked to end does so, or its node is lost before.
  void stopped(const Event& stop) {
    const std::string task = stop["task"];
    const bool lost = chance(stop, 0) < 0.5;
    ahead(lost ? 45 : 1,
          end_event(task, stop["attempt"], lost ? End::Lost : End::Stopped, lost ? -1 : 143, "", 0));
  }

  void ahead(double after, Event event, bool zombie = false) {
    event["at"] = now_ + after;
    const int process = event["event"] == "commit" ? process_ : -1;
    world_.push({now_ + after, ++number_, std::move(event), zombie, process});
  }

  void begin(const Event& start) {
    const std::string task = start["task"], node = start["node"];
    const int attempt = start["attempt"];
    const double length = 10 + 100 * chance(start, 1), when = length * chance(start, 2);
    auto ends = [&](End how, int status) { return end_event(task, attempt, how, status, "", 0); };
    if (chance(start, 3) < faults_.stopped) ahead(length * chance(start, 4), stop_event(task, attempt, 0));
    if (faults_.black_hole && node == "n0") return ahead(0.1, ends(End::Failed, 1));
    const double what = chance(start, 5);
    if (what < faults_.preempted) return ahead(when, ends(End::Preempted, 0));
    if (what < faults_.preempted + faults_.failed) return ahead(when, ends(End::Failed, 1));
    if (what < faults_.preempted + faults_.failed + faults_.lost) {
      ahead(length + 60, ends(End::Lost, 0));             // its lease
      ahead(length + 90, ends(End::Succeeded, 0), true);  // it finishes late
      return;
    }
    ahead(length, ends(End::Succeeded, 0));
  }

  // A zombie has its output ready: whether it is taken is the fence's decision.
  void published_late(const Ahead& late) {
    const TaskRecord* task = farm_.table().find(late.event["task"]);
    EXPECT_NE(task->attempt, 0);
    if (task->attempt != late.event["attempt"].get<int>()) {
      EXPECT_EQ(farm_.apply(late.event).code(), Code::Conflict);
    }
  }

  // As FarmRun::ended(): the output is brought meanwhile, by this scheduler alone.
  void ended(const Event& end) {
    const std::string task = end["task"];
    const int attempt = end["attempt"];
    if (!farm_.awaits(task, attempt) || !ending_.insert(id_of(end)).second) return;
    const int process = process_;
    if (!farm_.table().find(task)->uncommitted) record(end);
    if (process != process_ || !farm_.awaits(task, attempt)) return;
    ASSERT_TRUE(farm_.table().find(task)->uncommitted);
    if (chance(end, 6) < faults_.unbrought)
      ahead(45, end_event(task, attempt, End::Lost, -1, "", 0));
    else
      ahead(5, commit_event(task, attempt, 0));
  }

  void commit(Event event) {
    const std::string task = event["task"];
    if (!farm_.apply(event).ok()) return;
    journal_.push_back(event);
    outputs[task].push_back(farm_.table().find(task)->task.spec["content"]);
    kill();
  }

  const uint32_t seed_;
  std::mt19937 random_;  // of the tasks' needs, and of when the scheduler is killed
  Faults faults_;
  std::optional<size_t> kill_at_;
  Farm farm_{patient()};
  std::vector<Event> journal_;
  std::set<std::string> ending_;        // attempts whose end this scheduler has heard
  std::map<std::string, Event> ended_;  // by attempt: its end, as its node has it
  int process_ = 0;
  std::priority_queue<Ahead> world_;
  double now_ = 0;
  size_t number_ = 0;
};

void expect_each_output_once(const Simulation& simulation, int tasks) {
  for (size_t i = 0; i < static_cast<size_t>(tasks); ++i) {
    auto found = simulation.outputs.find("t" + std::to_string(i));
    ASSERT_NE(found, simulation.outputs.end()) << i << " " << simulation.table().to_json()[i];
    EXPECT_EQ(found->second, std::vector<int>{static_cast<int>(i)});
  }
}

TEST(FarmSimulation, EachOutputExactlyOnceInAThousandRuns) {
  int restarts = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    Faults faults;
    faults.preempted = 0.5 * (seed % 10) / 10;
    faults.lost = 0.1;
    faults.killed = 0.02;
    faults.unbrought = 0.05;
    faults.stopped = seed % 2 == 0 ? 0.3 : 0;
    faults.black_hole = seed % 3 == 0;
    Simulation simulation(seed, 3, 12, faults);
    ASSERT_NO_FATAL_FAILURE(simulation.run()) << "seed " << seed;
    ASSERT_NO_FATAL_FAILURE(expect_each_output_once(simulation, 12)) << "seed " << seed;
    for (const TaskRecord& task : simulation.table().tasks())
      EXPECT_LE(task.failed_on.size(), 1u) << "seed " << seed << ": one of three nodes fails all";
    restarts += simulation.restarts;
  }
  EXPECT_GT(restarts, 500);
}

// The times of commits differ, for a new scheduler brings outputs anew; the decisions do not.
TEST(FarmSimulation, KilledAtEveryStepOfItsJournalItEndsWithTheIdenticalTable) {
  for (uint32_t seed : {7u, 8u, 9u}) {
    Faults faults;
    faults.preempted = 0.2;
    faults.lost = 0.1;
    faults.failed = 0.15;
    Simulation whole(seed, 3, 8, faults, 0);
    whole.run();
    ASSERT_GT(whole.table().count(State::Finished), 4u);
    for (size_t step = 1; step <= whole.events(); ++step) {
      Simulation killed(seed, 3, 8, faults, step);
      ASSERT_NO_FATAL_FAILURE(killed.run()) << "step " << step;
      ASSERT_EQ(killed.restarts, 1);
      EXPECT_EQ(killed.table().to_json(), whole.table().to_json()) << "seed " << seed << ", step " << step;
      EXPECT_EQ(killed.outputs, whole.outputs) << "seed " << seed << ", step " << step;
    }
  }
}

TEST(FarmSimulation, OwnFailuresEndInATableWithoutWaitingTasks) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Faults faults;
    faults.failed = 0.4;
    Simulation simulation(seed, 4, 20, faults);
    ASSERT_NO_FATAL_FAILURE(simulation.run());
    const Table& table = simulation.table();
    EXPECT_EQ(table.count(State::Finished) + table.count(State::Failed), 20u);
    for (const TaskRecord& task : table.tasks()) {
      EXPECT_TRUE(task.state != State::Failed || task.failed_on.size() == 3u);
      const std::set<std::string> different(task.failed_on.begin(), task.failed_on.end());
      const bool fewer = std::any_of(table.nodes().begin(), table.nodes().end(),
                                     [](const auto& node) { return node.second.quarantined; });
      EXPECT_TRUE(fewer || different.size() == task.failed_on.size()) << "each try is on another node";
    }
  }
}

}  // namespace
}  // namespace radl::farm

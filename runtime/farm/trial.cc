#include "runtime/farm/trial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <set>

#include "runtime/farm/draws.h"
#include "runtime/farm/sizing.h"

namespace radl::farm {
namespace {

constexpr double kLeaseSeconds = 45, kReplaceSeconds = 30, kRefusedSeconds = 120;
// Between two decisions about the number of nodes: each takes a rehearsal for every number.
constexpr double kLookEvery = 30, kLooks = 20;
constexpr double kBandRatio = 1.3, kSlackSeconds = 5;
constexpr double kLengthError = 0.3;  // of predicted lengths
constexpr size_t kMostTrialSteps = 2'000'000;

// How strong each fault is in a run.
struct Strengths {
  explicit Strengths(const TrialQuestion& question) {
    if (!question.faults) return;
    Draws draws(question.seed, 1, 0);
    preempted_per_hour = 0.5 * draws.uniform();
    lost = 0.1 * draws.uniform();
    refused = 0.5 * draws.uniform();
    storage_seconds = 60 * draws.uniform();
    killed = 0.03 * draws.uniform();
    black_hole = draws.uniform() < 1.0 / 3;
  }
  double preempted_per_hour = 0, lost = 0, refused = 0, storage_seconds = 0, killed = 0;
  bool black_hole = false;
};

struct Machine {
  double created = 0;
  bool ready = false, bad = false;
  std::optional<double> idle_since;
};

struct Process {
  std::string task, node;
  int attempt = 0;
  bool ended = false, well = true;
};

class FarmTrial {
 public:
  explicit FarmTrial(const TrialQuestion& question)
      : question_(question),
        settings_(question.settings),
        strengths_(question),
        draws_(question.seed, 2, 0),
        farm_(policy()),
        unknown_seconds_(30 + 570 * Draws(question.seed, 3, 0).uniform()) {}

  TrialOutcome run() {
    begin();
    for (size_t step = 0; outcome_.wrong.empty() && !is_over(); ++step) {
      if (step == kMostTrialSteps) return failed("it does not end");
      act();
      if (is_over() || !outcome_.wrong.empty()) break;
      if (ahead_.empty()) return failed("nothing is under way, and tasks are left");
      const Ahead next = ahead_.top();
      ahead_.pop();
      now_ = std::max(now_, next.at);
      next.happens();
    }
    while (!machines_.empty()) remove(machines_.begin()->first);
    outcome_.seconds = now_;
    outcome_.events = journal_.size();
    if (outcome_.wrong.empty()) check_outputs();
    return outcome_;
  }

 private:
  struct Ahead {
    double at;
    size_t number;
    std::function<void()> happens;
    bool operator<(const Ahead& other) const {
      return std::tie(at, number) > std::tie(other.at, other.number);
    }
  };

  // Losses are the nodes' fault here.
  Policy policy() const {
    Policy policy = settings_.policy;
    policy.rules.lost = 1000;
    return policy;
  }
  TrialOutcome failed(std::string why) {
    outcome_.wrong = std::move(why);
    return outcome_;
  }
  void after(double seconds, std::function<void()> happens) {
    ahead_.push({now_ + seconds, ++number_, std::move(happens)});
  }
  bool chance(double probability) { return draws_.uniform() < probability; }

  // ---- the scheduler: farm_ and what it derives from its journal

  bool record(const Event& event) {
    if (!farm_.apply(event).ok()) return false;
    journal_.push_back(event);
    const bool killed = question_.kill_at ? journal_.size() == *question_.kill_at : chance(strengths_.killed);
    if (killed && begun_) restart();
    return true;
  }

  // Another scheduler reads the journal, and a new plan is approved. Nodes tell it all ends again.
  void restart() {
    Farm again(policy());
    for (const Event& event : journal_) (void)again.apply(event);
    if (again.table().to_json() != farm_.table().to_json())
      outcome_.wrong = "another scheduler has another table";
    farm_ = std::move(again);
    ++outcome_.kills;
    ++scheduler_;
    bringing_.clear();
    dead_ = true;  // what the killed one was about to do is not done
  }

  // What the next apply does first.
  void take_over() {
    dead_ = false;
    approve();
    for (const auto& [id, process] : processes_)
      if (process.ended) tell_end(id, 1);
  }

  TrialsLeft trials_left() const {
    TrialsLeft left;
    if (!settings_.search) return left;
    left = Search(*settings_.search).left();
    while (left.count > 0 && farm_.table().find(trial_name(left.first))) --left.count, ++left.first;
    return left;
  }

  SizeQuestion size_question() const {
    SizeQuestion asked{trials_left(), settings_.trial_needs};
    for (const auto& [name, machine] : machines_) asked.there.push_back(name);
    asked.offered = question_.offered;
    asked.most = question_.most;
    asked.create_seconds = question_.create_seconds;
    asked.idle_seconds = settings_.elastic.idle_seconds;
    asked.worth = settings_.elastic.worth;
    return asked;
  }

  void approve() {
    Json terms = Json::object();
    size_t wanted = question_.most;
    if (question_.elastic) {
      const Size size = best_size(farm_, now_, size_question());
      wanted = size.nodes;
      look_every_ = std::max(kLookEvery, size.run.seconds / kLooks);
      if (size.run.known) {
        terms["node_seconds"] = {{"value", size.run.paid_seconds},
                                 {"high", size.run.paid_seconds * kBandRatio}};
        if (!begun_) {
          outcome_.predicted_low = size.run.paid_seconds / kBandRatio;
          outcome_.predicted_high = size.run.paid_seconds * kBandRatio;
        }
      }
    }
    record(approve_event(std::move(terms), now_));
    while (machines_.size() < wanted) create();
    record(began_event(now_, machines_.size()));
  }

  void begin() {
    for (const Task& task : settings_.tasks) (void)record(add_event(task, now_));
    approve();
    begun_ = true;
  }

  bool is_over() const {
    return !dead_ && farm_.table().is_over() && bringing_.empty() && trials_left().count == 0;
  }
  bool is_paused() const { return !farm_.table().paused().is_null(); }
  bool has_waiting() const { return farm_.table().count(State::Waiting) > 0 || trials_left().count > 0; }

  // What a scheduler does whenever it has heard of something.
  void act() {
    if (dead_) take_over();
    if (is_paused() && farm_.table().count(State::Running) == 0) approve();
    if (!is_paused()) start_tasks();
    if (dead_ || !question_.elastic || now_ < next_look_) return;
    next_look_ = now_ + look_every_;
    after(look_every_, [] {});
    watch_cost();
    if (!dead_) remove_idle();
    if (!dead_ && !is_paused()) grow();
  }

  void start_tasks() {
    for (TrialsLeft left = trials_left(); left.may_begin(farm_.table()) && !dead_; --left.count, ++left.first)
      record(add_event({trial_name(left.first), settings_.trial_needs, 0, {{"parameters", Json::object()}}},
                       now_));
    for (auto events = farm_.next(now_); !events.empty() && !dead_; events = farm_.next(now_)) {
      for (const Event& event : events) {
        if (dead_ || !record(event)) continue;
        if (event["event"] == "quarantine") ++outcome_.quarantined;
        // A start that is in the journal when its scheduler is killed is lost: the node never receives it.
        if (event["event"] == "start" && !dead_) start(event);
        if (event["event"] == "start" && dead_) lose_later(event["task"], event["attempt"]);
      }
    }
    for (const auto& [name, node] : std::map<std::string, NodeRecord>(farm_.table().nodes()))
      if (node.quarantined && machines_.contains(name) && farm_.running_on(name).empty()) replace(name);
  }

  void watch_cost() {
    const auto left = farm_.table().approval().node_seconds_left(now_);
    if (!left || is_paused() || farm_.table().done() < kMeasuredTasks) return;
    Comings comings;
    comings.idle_seconds = settings_.elastic.idle_seconds;
    std::map<std::string, Resources> nodes;
    for (const auto& [name, machine] : machines_) nodes[name] = question_.offered;
    const Rehearsal rest =
        rehearse_rest(with_nodes(farm_, nodes), now_, trials_left(), settings_.trial_needs, comings);
    const double slack = kSlackSeconds * static_cast<double>(machines_.size());
    if (!rest.known || rest.paid_seconds <= *left + slack) return;
    ++outcome_.pauses;
    record(pause_event(now_, "it would take too many node-seconds", now_));
  }

  void remove_idle() {
    if (!is_paused() && has_waiting()) return;
    std::vector<std::string> idle;
    for (auto& [name, machine] : machines_) {
      const bool works = !machine.ready || !farm_.running_on(name).empty();
      if (works) machine.idle_since.reset();
      if (!works && !machine.idle_since) machine.idle_since = now_;
      if (!works && now_ - *machine.idle_since >= settings_.elastic.idle_seconds) idle.push_back(name);
    }
    const size_t least = std::max<size_t>(settings_.elastic.least, 1);
    for (const std::string& name : idle) {
      if (machines_.size() <= least || dead_) return;
      record(gone_event(name, "it is idle", now_));
      remove(name);
      if (!dead_) record(nodes_event(machines_.size(), now_));
    }
  }

  void grow() {
    const bool there =
        std::all_of(machines_.begin(), machines_.end(), [](const auto& one) { return one.second.ready; });
    if (!there || farm_.table().done() < kMeasuredTasks || machines_.size() >= question_.most) return;
    SizeQuestion asked = size_question();
    asked.least = machines_.size();
    if (const auto left = farm_.table().approval().node_seconds_left(now_)) asked.paid_most = *left;
    const size_t wanted = best_size(farm_, now_, asked).nodes;
    if (wanted <= machines_.size()) return;
    while (machines_.size() < wanted) create();
    record(nodes_event(machines_.size(), now_));
  }

  // ---- the world

  void create() {
    const std::string name = fmt::format("node-{:04}", ++created_);
    Machine machine;
    machine.bad = strengths_.black_hole && created_ == 1;
    machines_[name] = machine;
    request(name);
  }

  void request(const std::string& name) {
    if (chance(strengths_.refused)) {  // nothing exists, and nothing is paid
      ++outcome_.refused;
      return after(kRefusedSeconds, [this, name] {
        if (machines_.contains(name)) request(name);
      });
    }
    machines_[name].created = now_ + 1e-9;
    after(question_.create_seconds * (0.5 + draws_.uniform()), [this, name] {
      if (!machines_.contains(name)) return;
      machines_[name].ready = true;
      record(node_event(name, question_.offered, now_));
    });
    const double until =
        -std::log(1 - draws_.uniform()) * 3600 / std::max(1e-9, strengths_.preempted_per_hour);
    after(until, [this, name] {
      if (!machines_.contains(name) || !machines_[name].ready) return;
      ++outcome_.preemptions;
      replace(name);
    });
  }

  // Its processes end with it.
  void remove(const std::string& name) {
    const Machine& machine = machines_.at(name);
    if (machine.created > 0) outcome_.node_seconds += now_ - machine.created;
    std::erase_if(processes_, [&](const auto& one) { return one.second.node == name; });
    machines_.erase(name);  // last: `name` may be its key
  }

  void replace(const std::string& name) {
    remove(name);
    record(gone_event(name, "it was preempted", now_));
    for (const std::string& task : farm_.running_on(name))
      record(end_event(task, farm_.table().find(task)->attempt, End::Preempted, -1, "", now_));
    after(kReplaceSeconds, [this] {
      if (has_waiting() || machines_.empty()) create();
    });
  }

  double length_of(const std::string& task) const {
    const TaskRecord* record = farm_.table().find(task);
    Draws draws(question_.seed, 4, static_cast<uint64_t>(record - farm_.table().tasks().data()));
    const double factor = 1 + kLengthError * (2 * draws.uniform() - 1);
    return (record->task.seconds > 0 ? record->task.seconds : unknown_seconds_) * factor;
  }

  static std::string id_of(const std::string& task, int attempt) {
    return fmt::format("{}.{}", task, attempt);
  }

  void start(const Event& event) {
    const std::string task = event["task"], node = event["node"];
    const int attempt = event["attempt"];
    const auto machine = machines_.find(node);
    if (machine == machines_.end()) return lose_later(task, attempt);
    const std::string id = id_of(task, attempt);
    Process& process = processes_[id];
    process = {task, node, attempt, false, !machine->second.bad};
    after(process.well ? length_of(task) : 0.5, [this, id] {
      const auto found = processes_.find(id);
      if (found == processes_.end()) return;
      found->second.ended = true;
      tell_end(id, chance(strengths_.lost) ? 2 * kLeaseSeconds : 0);
    });
    if (chance(strengths_.lost)) lose_later(task, attempt);
  }

  // The node does not answer for its lease: the task runs again, and its process ends late.
  void lose_later(const std::string& task, int attempt) {
    after(kLeaseSeconds, [this, task, attempt] {
      if (!farm_.awaits(task, attempt)) return;
      ++outcome_.lost;
      record(end_event(task, attempt, End::Lost, -1, "its node does not answer", now_));
    });
  }

  // A node reports an end whenever it is asked.
  void tell_end(const std::string& id, double late) {
    after(late, [this, id] {
      const auto found = processes_.find(id);
      if (found == processes_.end()) return;
      const Process process = found->second;
      if (!farm_.awaits(process.task, process.attempt)) {  // a zombie
        if (farm_.apply(end_event(process.task, process.attempt, End::Succeeded, 0, "", now_)).ok())
          outcome_.wrong = id + " ended late and counts";
        return;
      }
      if (!bringing_.insert(id).second) return;
      const int by = scheduler_;
      const bool known = farm_.table().find(process.task)->uncommitted;
      if (!known &&
          !record(end_event(process.task, process.attempt, process.well ? End::Succeeded : End::Failed,
                            process.well ? 0 : 1, "", now_)))
        outcome_.wrong = id + " has ended and does not count";
      if (!process.well) bringing_.erase(id);
      if (process.well && by == scheduler_) bring(id, process);
    });
  }

  void bring(const std::string& id, const Process& process) {
    const int by = scheduler_;
    after(1 + strengths_.storage_seconds * draws_.uniform(), [this, id, process, by] {
      if (by != scheduler_) return;  // its scheduler was killed
      bringing_.erase(id);
      if (!processes_.contains(id)) {  // its node was lost on the way
        if (farm_.awaits(process.task, process.attempt))
          record(end_event(process.task, process.attempt, End::Lost, -1, "", now_));
        return;
      }
      // Not record(): the output is kept with the event, or by the scheduler that reads it (Outputs::adopt).
      const Event event = commit_event(process.task, process.attempt, now_);
      if (!farm_.apply(event).ok()) return;
      outputs_[process.task].push_back(process.attempt);
      journal_.push_back(event);
      if (question_.kill_at && journal_.size() == *question_.kill_at) restart();
    });
  }

  void check_outputs() {
    for (const TaskRecord& task : farm_.table().tasks()) {
      const std::vector<int>& kept = outputs_[task.task.name];
      if (task.state == State::Finished && kept == std::vector<int>{task.attempt}) continue;
      const bool own_fault = task.state == State::Failed && kept.empty() &&
                             static_cast<int>(task.failed_on.size()) >= settings_.policy.rules.tries;
      const bool too_large = task.state == State::Failed && farm_.fits_nowhere(task.task.needs);
      if (own_fault || too_large) continue;
      outcome_.wrong =
          fmt::format("{} is {} and has {} outputs", task.task.name, state_name(task.state), kept.size());
    }
  }

  const TrialQuestion& question_;
  const FarmSettings& settings_;
  Strengths strengths_;
  Draws draws_;
  Farm farm_;
  const double unknown_seconds_;
  std::vector<Event> journal_;
  std::map<std::string, Machine> machines_;
  std::map<std::string, Process> processes_;         // by attempt
  std::map<std::string, std::vector<int>> outputs_;  // by task: attempts whose output was kept
  std::set<std::string> bringing_;                   // attempts whose output this scheduler brings
  std::priority_queue<Ahead> ahead_;
  double now_ = 0, look_every_ = kLookEvery, next_look_ = 0;
  size_t number_ = 0, created_ = 0;
  int scheduler_ = 0;
  bool begun_ = false, dead_ = false;
  TrialOutcome outcome_;
};

}  // namespace

TrialOutcome try_farm(const TrialQuestion& question) { return FarmTrial(question).run(); }

}  // namespace radl::farm

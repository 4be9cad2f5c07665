#include "runtime/exec/plan_run.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "common/guarded.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/job_folders.h"
#include "runtime/exec/operations.h"
#include "runtime/plan/graph.h"

namespace radl {

namespace {

using TimePoint = std::chrono::steady_clock::time_point;

class PlanRun {
 public:
  PlanRun(Execution& execution, const Plan& plan, RunReport& report)
      : execution_(execution), plan_(plan), report_(report), steps_(plan.actions.size()) {
    report_.actions.clear();
    report_.actions.reserve(plan.actions.size());
    for (const Action& action : plan.actions) {
      ActionOutcome outcome;
      outcome.id = action.id;
      outcome.verb = action.verb;
      outcome.state = ActionOutcome::State::Skipped;
      report_.actions.push_back(std::move(outcome));
    }
    begun_.resize(plan.actions.size());
    entered_.resize(plan.actions.size());
    for (const Action& action : plan.actions) (void)execution.run.clouds->find(action.cloud);
    double max_time = execution.run.program ? execution.run.program->max_time_seconds : 0;
    deadline_ = max_time > 0
                    ? execution.in(std::chrono::milliseconds(static_cast<long long>(max_time * 1000)))
                    : TimePoint::max();
  }

  Status execute() {
    Result<PlanGraph> graph = plan_graph(plan_);
    if (!graph.ok()) return graph.status();
    std::vector<bool> done(graph->vertices.size());
    Status broken = run_once(*graph, done);
    int rounds = execution_.options().on_error == OnError::Retry ? execution_.options().rounds : 0;
    for (int round = 0; round < rounds && broken.ok() && worth_another_round(); ++round)
      broken = run_once(*graph, done);
    Status failed = first_failure();
    return failed.ok() ? broken : failed;
  }

 private:
  // Otherwise jobs that were left running would be joined again at once.
  bool worth_another_round() const {
    return report_.failed() > 0 && report_.left_running.empty() && !execution_.stop_starting();
  }

  // The unfinished vertices, as a separate graph. Their failures are already in the report.
  Status run_once(const PlanGraph& graph, std::vector<bool>& done) {
    std::vector<Dag::Id> back;  // vertex of the part -> vertex of the whole
    back.reserve(graph.vertices.size());
    for (Dag::Id id = 0; id < graph.vertices.size(); ++id) {
      if (!done[id]) back.push_back(id);
    }
    const bool whole = back.size() == graph.vertices.size();
    const Dag part = whole ? Dag() : part_of(graph.dag, back);
    WorkGraph operations{whole ? graph.dag : part, {}, {}};
    for (Dag::Id id : back) {
      operations.tolerant.push_back(graph.tolerant[id]);
      operations.barrier.push_back(graph.barrier[id]);
    }
    operations.exclusive = [&](Dag::Id id) { return exclusive(graph.vertices[back[id]]); };
    operations.skipped = [&](Dag::Id id, Dag::Id cause) {
      execution_.note_failed(name_of(graph, back[id]));
      const std::string& after = name_of(graph, back[cause]);
      skip(graph, back[id], runs_on(after) ? "waits for " + after + ", which runs on" : after + " failed");
    };
    operations.begin = [&](Dag::Id id, Park& park) { return begin(graph.vertices[back[id]], park); };
    operations.ended = [&](Dag::Id id, Status status) {
      return ended(graph.vertices[back[id]], std::move(status));
    };
    OperationsOver over = run_operations(execution_, operations);
    std::string why = over.status.ok() ? "stopped before it began" : over.status.message();
    for (Dag::Id id : over.never) skip(graph, back[id], why);
    for (Dag::Id id : over.cut) note_failure(graph.vertices[back[id]].index, over.status);
    for (Dag::Id id = 0; id < back.size(); ++id) {
      if (over.well[id]) done[back[id]] = true;
    }
    return over.status;
  }

  static Dag part_of(const Dag& dag, const std::vector<Dag::Id>& chosen) {
    Dag part(chosen.size());
    std::vector<Dag::Id> place(dag.size(), SIZE_MAX);
    for (Dag::Id id = 0; id < chosen.size(); ++id) place[chosen[id]] = id;
    for (Dag::Id id : chosen) {
      for (Dag::Id before : dag.before(id)) {
        if (place[before] != SIZE_MAX) part.add_edge(place[before], place[id]);
      }
    }
    return part;
  }

  bool runs_on(const std::string& id) {
    std::lock_guard guard(outcomes_);
    const std::vector<std::string>& left = report_.left_running;
    return std::find(left.begin(), left.end(), id) != left.end();
  }

  // Steps share their node's connection and its package manager's lock: one at a time on a node.
  std::vector<std::string> exclusive(const PlanVertex& vertex) const {
    if (vertex.phase == PlanVertex::Phase::Barrier) return {};
    return plan_.actions[vertex.index].nodes;
  }

  std::string name_of(const PlanGraph& graph, Dag::Id id) const {
    const PlanVertex& vertex = graph.vertices[id];
    return vertex.phase == PlanVertex::Phase::Barrier ? plan_.barriers[vertex.index].id
                                                      : plan_.actions[vertex.index].id;
  }

  void emit(EventKind kind, const Action& action, std::string message, Json data) {
    Event event;
    event.kind = kind;
    event.id = action.id;
    event.verb = verb_name(action.verb);
    event.message = std::move(message);
    event.data = std::move(data);
    execution_.events.emit(std::move(event));
  }

  static Async<Status> refused(Status why) { co_return why; }

  // The two vertices of an action never run at the same time: one phase precedes the other.
  Async<Status> begin(const PlanVertex& vertex, Park& park) {
    const Action& action = plan_.actions[vertex.index];
    steps_[vertex.index].reset();
    Status may = execution_.lock().enter(execution_.finishing());
    entered_[vertex.index] = may.ok();
    if (may.ok()) may = execution_.check_undisturbed(action);
    if (begun_[vertex.index] == TimePoint()) {
      begun_[vertex.index] = execution_.world().clock.now();
      emit(EventKind::ActionStarted, action, "", {{"attempt", 1}});
    }
    if (!may.ok()) return refused(std::move(may));
    if (vertex.phase == PlanVertex::Phase::Remove)
      return remove_resource(execution_, park, action.id, action.verb == Verb::Replace);
    if (action.verb == Verb::Run || action.verb == Verb::Forget) return begin_step(vertex.index, park);
    return action.verb == Verb::Update ? update_resource(execution_, park, action)
                                       : make_resource(execution_, park, action);
  }

  // For a job that the file no longer has. Blocks its thread.
  Status end_forgotten(const Action& action) {
    const std::optional<StepRecord> record = execution_.step(action.id);
    if (!record || record->jobs.empty()) return {};
    // A run that supervises the job would restart what is ended here.
    auto lease =
        execution_.store().lease_job(action.id, execution_.options().command, true, execution_.now());
    if (!lease.ok()) return lease.status();
    const Context context = execution_.context(action.id, deadline_, true);
    return end_all_folders(execution_, context, action.id, record->jobs);
  }

  Async<Status> begin_step(size_t index, Park& park) {
    const Action& action = plan_.actions[index];
    if (action.verb == Verb::Forget) {
      if (Status stopped = stop_services(execution_, action, deadline_); !stopped.ok()) co_return stopped;
      if (Status ended = end_forgotten(action); !ended.ok()) co_return ended;
      Async<Status> writing =
          park.write([&action] { return std::vector<StateChange>{state_change::ForgetStep{action.id}}; });
      co_await writing.finished();
      Status forgotten = writing.take();
      if (forgotten.ok()) execution_.forget(action.id);
      co_return forgotten;
    }
    steps_[index] = std::make_unique<StepDone>(run_step(execution_, action, deadline_));
    co_return steps_[index]->status;
  }

  // The journal has what the action started: after an exception, as after a kill, the next run continues it.
  Status ended(const PlanVertex& vertex, Status status) {
    const Action& action = plan_.actions[vertex.index];
    if (std::exchange(entered_[vertex.index], 0)) execution_.lock().leave();
    const bool first_of_two = vertex.phase == PlanVertex::Phase::Remove && action.verb != Verb::Delete;
    if (status.ok() && first_of_two) return status;
    const bool was_to_be_made = action.verb == Verb::Create || action.verb == Verb::Replace;
    if (!status.ok() && was_to_be_made) execution_.note_failed(action.id);
    Status told = guarded([&]() -> Status { return conclude(vertex.index, status), Status(); });
    if (told.ok()) return status;
    note_failure(vertex.index, told);
    return told;
  }

  // While one phase of an action ends on its thread, another thread may skip its other phase. A failure takes
  // precedence over the skip.
  void conclude(size_t index, const Status& status) {
    const Action& action = plan_.actions[index];
    const StepDone none, &step = steps_[index] ? *steps_[index] : none;
    std::lock_guard guard(outcomes_);
    ActionOutcome& outcome = report_.actions[index];
    outcome.seconds = std::chrono::duration<double>(execution_.world().clock.now() - begun_[index]).count();
    outcome.changes = step.changes;
    outcome.log = step.log;
    outcome.detail.clear();
    outcome.status = execution_.events.mask(status);
    outcome.state = status.ok() ? ActionOutcome::State::Done : ActionOutcome::State::Failed;
    begun_[index] = {};
    if (step.left_running) {
      outcome.state = ActionOutcome::State::Skipped;
      outcome.status = {};
      outcome.detail = "it runs on its nodes";
      if (std::find(report_.left_running.begin(), report_.left_running.end(), action.id) ==
          report_.left_running.end())
        report_.left_running.push_back(action.id);
      emit(EventKind::ActionSkipped, action, outcome.detail, nullptr);
    } else if (status.ok()) {
      emit(EventKind::ActionFinished, action, "", {{"seconds", outcome.seconds}, {"changes", step.changes}});
    } else {
      emit(EventKind::ActionFailed, action, outcome.status.message(),
           {{"seconds", outcome.seconds}, {"code", code_name(status.code())}, {"log", step.log}});
    }
  }

  // If even the event failed.
  void note_failure(size_t index, Status why) {
    std::lock_guard guard(outcomes_);
    report_.actions[index].state = ActionOutcome::State::Failed;
    report_.actions[index].status = std::move(why);
  }

  void skip(const PlanGraph& graph, Dag::Id id, const std::string& why) {
    const PlanVertex& vertex = graph.vertices[id];
    if (vertex.phase == PlanVertex::Phase::Barrier) return;
    std::lock_guard guard(outcomes_);
    ActionOutcome& outcome = report_.actions[vertex.index];
    if (outcome.state == ActionOutcome::State::Failed) return;  // its first phase failed and reported it
    outcome.state = ActionOutcome::State::Skipped;
    outcome.detail = why;
    emit(EventKind::ActionSkipped, plan_.actions[vertex.index], why, nullptr);
  }

  Status first_failure() const {
    const bool whole =
        std::all_of(report_.actions.begin(), report_.actions.end(),
                    [](const ActionOutcome& one) { return one.state == ActionOutcome::State::Done; });
    // The stop came when everything had started, and all of it has ended.
    if (whole) return {};
    if (execution_.stop_starting())
      return {Code::Cancelled, "stopped; run the same command again to continue"};
    for (const ActionOutcome& outcome : report_.actions) {
      if (outcome.state == ActionOutcome::State::Failed) return outcome.told();
    }
    return {};
  }

  Execution& execution_;
  const Plan& plan_;
  RunReport& report_;
  std::mutex outcomes_;                           // guards report_.actions
  std::vector<std::unique_ptr<StepDone>> steps_;  // by action; used only by the thread of its turn
  std::vector<TimePoint> begun_;
  std::vector<char> entered_;  // by action: it counts for LockShare; char, so that each thread writes its own
  TimePoint deadline_;         // of the whole configuration
};

}  // namespace

Status execute_plan(Execution& execution, const Plan& plan, RunReport& report) {
  Status ended = PlanRun(execution, plan, report).execute();
  // Held to the end of the run, so that outcomes are written.
  const Status locked = execution.was_taken_over() ? Status() : execution.lock().enter(execution.now());
  if (!locked.ok() && ended.ok()) ended = locked;
  report.lost_lock = execution.store().still_held();
  return report.lost_lock.ok() ? ended : report.lost_lock;
}

}  // namespace radl

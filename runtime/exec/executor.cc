// apply and destroy: the plan's graph on the scheduler, and what follows when all is over.
#include "runtime/exec/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>

#include "common/guarded.h"
#include "runtime/exec/actions.h"
#include "runtime/exec/owners.h"
#include "runtime/exec/retry.h"
#include "runtime/exec/scheduler.h"
#include "runtime/exec/sweep.h"
#include "runtime/plan/graph.h"
#include "runtime/plan/plan_file.h"

namespace radl {

namespace {

size_t count_state(const std::vector<ActionOutcome>& actions, ActionOutcome::State state) {
  return static_cast<size_t>(std::count_if(
      actions.begin(), actions.end(), [&](const ActionOutcome& outcome) { return outcome.state == state; }));
}

// Executes the actions of one plan; keeps what came of each.
class PlanRun {
 public:
  PlanRun(Session& session, const Plan& plan, RunReport& report)
      : session_(session), plan_(plan), report_(report) {
    report_.actions.clear();
    for (const Action& action : plan.actions) {
      ActionOutcome outcome;
      outcome.id = action.id;
      outcome.verb = action.verb;
      outcome.state = ActionOutcome::State::Skipped;
      report_.actions.push_back(std::move(outcome));
    }
    begun_.resize(plan.actions.size());
    // Each cloud's watcher has a thread of its own.
    for (const Action& action : plan.actions) (void)session.run.clouds->find(action.cloud);
    double max_time = session.run.program ? session.run.program->max_time_seconds : 0;
    deadline_ = max_time > 0 ? session.in(std::chrono::milliseconds(static_cast<long long>(max_time * 1000)))
                             : std::chrono::steady_clock::time_point::max();
  }

  Status execute() {
    Result<PlanGraph> graph = plan_graph(plan_);
    if (!graph.ok()) return graph.status();
    std::vector<bool> done(graph->vertices.size());
    Status broken = run_once(*graph, done);
    int rounds = session_.options().on_error == OnError::Retry ? session_.options().rounds : 0;
    for (int round = 0; round < rounds && broken.ok() && worth_another_round(); ++round)
      broken = run_once(*graph, done);
    Status failed = first_failure();
    return failed.ok() ? broken : failed;
  }

 private:
  bool worth_another_round() const {
    return count_state(report_.actions, ActionOutcome::State::Failed) > 0 && !session_.stop_starting();
  }

  // The vertices that are not done yet, as a graph of their own. What failed in them stands in the report.
  Status run_once(const PlanGraph& graph, std::vector<bool>& done) {
    std::vector<Dag::Id> back;  // of the part -> of the whole
    std::vector<Dag::Id> place(graph.vertices.size(), SIZE_MAX);
    Dag part;
    Schedule schedule{part};
    Scheduler* scheduler = nullptr;
    Watchers* watchers = nullptr;
    for (Dag::Id id = 0; id < graph.vertices.size(); ++id) {
      if (done[id]) continue;
      place[id] = part.add();
      back.push_back(id);
      schedule.tolerant.push_back(graph.tolerant[id]);
      schedule.barrier.push_back(graph.barrier[id]);
    }
    for (Dag::Id id : back) {
      for (Dag::Id before : graph.dag.before(id)) {
        if (place[before] != SIZE_MAX) part.add_edge(place[before], place[id]);
      }
    }
    schedule.parallelism = session_.options().parallelism;
    schedule.clock = &session_.world().clock;
    schedule.services = static_cast<int>(session_.run.clouds->ids().size());
    schedule.stop_level = [&] { return session_.stop_level(); };
    schedule.exclusive = [&](Dag::Id id) { return exclusive(graph.vertices[back[id]]); };
    std::vector<char> well(back.size());  // char: each thread writes its own
    std::vector<std::unique_ptr<Operation<StepDone>>> operations(back.size());
    schedule.run = [&](Dag::Id id) {
      Turn turn = Turn::Failed;
      const PlanVertex& vertex = graph.vertices[back[id]];
      Status told = guarded([&]() -> Status {
        return turn = take_turn(vertex, operations[id], {session_, *scheduler, *watchers, id}), Status();
      });
      if (!told.ok()) note_failure(vertex.index, std::move(told));
      well[id] = turn == Turn::Done;
      if (turn != Turn::Parked) operations[id].reset();
      return turn;
    };
    schedule.skipped = [&](Dag::Id id, Dag::Id cause) {
      skip(graph, back[id], name_of(graph, back[cause]) + " failed");
    };
    Scheduler running(schedule);
    Watchers watching(session_, running);
    scheduler = &running;
    watchers = &watching;
    Scheduled over = running.run();
    std::string why = over.status.ok() ? "stopped before it began" : over.status.message();
    for (Dag::Id id : over.never) skip(graph, back[id], why);
    for (size_t i = 0; i < back.size(); ++i) {
      if (well[i]) done[back[i]] = true;
      if (operations[i]) note_failure(graph.vertices[back[i]].index, over.status);
    }
    return over.status;
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
    session_.events.emit(std::move(event));
  }

  Turn take_turn(const PlanVertex& vertex, std::unique_ptr<Operation<StepDone>>& operation, Park park) {
    const Action& action = plan_.actions[vertex.index];
    bool removes = vertex.phase == PlanVertex::Phase::Remove;
    bool last_phase = !removes || action.verb == Verb::Delete;
    StepDone done;
    // What it had begun stands in the journal: an exception leaves it to the next run as a kill would.
    bool parked = false;
    Status thrown = guarded([&]() -> Status {
      if (!operation) {
        begin(vertex.index);
        operation = std::make_unique<Operation<StepDone>>(park);
        operation->start(removes ? remove(operation->park(), action) : make(operation->park(), action));
      }
      parked = !operation->advance();
      if (!parked) done = operation->take();
      return {};
    });
    if (parked && thrown.ok()) return Turn::Parked;
    if (!thrown.ok()) done.status = std::move(thrown);
    if (!done.status.ok() || last_phase) conclude(vertex.index, done);
    return done.status.ok() ? Turn::Done : Turn::Failed;
  }

  // A vertex of an action runs alone: its other phase comes before or after it.
  void begin(size_t index) {
    if (begun_[index] != std::chrono::steady_clock::time_point()) return;
    begun_[index] = session_.world().clock.now();
    emit(EventKind::ActionStarted, plan_.actions[index], "", {{"attempt", 1}});
  }

  Async<StepDone> remove(Park& park, const Action& action) {
    StepDone done;
    done.status = co_await remove_resource(session_, park, action.id, action.verb == Verb::Replace);
    co_return done;
  }

  Async<StepDone> make(Park& park, const Action& action) {
    StepDone done;
    switch (action.verb) {
      case Verb::Run:
        co_return run_step(session_, action, deadline_);
      case Verb::Update:
        done.status = co_await update_resource(session_, park, action);
        break;
      case Verb::Forget:
        done.status = session_.store().forget_step(action.id);
        if (done.status.ok()) session_.forget(action.id);
        break;
      default:
        done.status = co_await make_resource(session_, park, action);
    }
    co_return done;
  }

  // While one phase of an action ends on its thread, another thread may give up its other phase: that gives
  // way to a failure.
  void conclude(size_t index, const StepDone& done) {
    const Action& action = plan_.actions[index];
    std::lock_guard guard(outcomes_);
    ActionOutcome& outcome = report_.actions[index];
    outcome.seconds = std::chrono::duration<double>(session_.world().clock.now() - begun_[index]).count();
    outcome.changes = done.changes;
    outcome.log = done.log;
    outcome.detail.clear();
    outcome.status = session_.events.mask(done.status);
    outcome.state = done.status.ok() ? ActionOutcome::State::Done : ActionOutcome::State::Failed;
    begun_[index] = {};
    if (done.status.ok()) {
      emit(EventKind::ActionFinished, action, "", {{"seconds", outcome.seconds}, {"changes", done.changes}});
    } else {
      emit(EventKind::ActionFailed, action, outcome.status.message(),
           {{"seconds", outcome.seconds}, {"code", code_name(done.status.code())}, {"log", done.log}});
    }
  }

  // When not even the telling worked.
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
    if (outcome.state == ActionOutcome::State::Failed) return;  // its first phase did, and said so
    outcome.state = ActionOutcome::State::Skipped;
    outcome.detail = why;
    emit(EventKind::ActionSkipped, plan_.actions[vertex.index], why, nullptr);
  }

  Status first_failure() const {
    if (session_.stop_starting()) return {Code::Cancelled, "stopped; the same command goes on from here"};
    for (const ActionOutcome& outcome : report_.actions) {
      if (outcome.state == ActionOutcome::State::Failed) return Status(outcome.status);
    }
    return {};
  }

  Session& session_;
  const Plan& plan_;
  RunReport& report_;
  std::mutex outcomes_;  // of report_.actions
  std::vector<std::chrono::steady_clock::time_point> begun_;
  std::chrono::steady_clock::time_point deadline_;
};

void tell_start(Session& session, const Plan& plan, const char* command) {
  Event event;
  event.kind = EventKind::RunStarted;
  event.data = {{"command", command},
                {"infrastructure", plan.infrastructure},
                {"actions", plan.actions.size()},
                {"plan", to_json(plan)["totals"]}};
  session.events.emit(std::move(event));
}

void tell_end(Session& session, const RunReport& report) {
  for (const OutputRecord& output : report.outputs) {
    Event event;
    event.kind = EventKind::OutputValue;
    event.id = output.name;
    event.data = {{"value", output.sensitive ? Json() : output.value}, {"sensitive", output.sensitive}};
    session.events.emit(std::move(event));
  }
  Event event;
  event.kind = EventKind::RunFinished;
  event.message = report.status.message();
  event.data = {{"ok", report.status.ok()},
                {"seconds", report.seconds},
                {"done", report.done()},
                {"failed", report.failed()},
                {"skipped", report.skipped()}};
  session.events.emit(std::move(event));
}

std::string history_line(const RunReport& report) {
  std::string text = fmt::format("{} done", report.done());
  if (report.failed()) text += fmt::format(", {} failed", report.failed());
  if (report.skipped()) text += fmt::format(", {} skipped", report.skipped());
  return text;
}

// OnError::Destroy: what this run made goes again, with all that needs it.
void destroy_what_was_made(Session& session, const Plan& plan, RunReport& report) {
  Snapshot made = session.snapshot();
  std::set<std::string> by_this_run;
  for (const Action& action : plan.actions) {
    if (action.verb == Verb::Create && !action.is_step) by_this_run.insert(action.id);
  }
  std::erase_if(made.resources, [&](const auto& entry) { return !by_this_run.count(entry.first); });
  Plan removal = make_destroy_plan(made);
  RunReport removed;
  Status status = PlanRun(session, removal, removed).execute();
  for (const ActionOutcome& outcome : removed.actions) {
    if (outcome.state != ActionOutcome::State::Done) {
      report.leftovers.push_back(outcome.id + ": " + outcome.status.message() + outcome.detail);
    }
  }
}

void save_outcome(Session& session, const Plan& plan, RunReport& report) {
  const ir::Program& program = *session.run.program;
  Snapshot now = session.snapshot();
  report.outputs = resolve_outputs(program, now, nullptr);
  std::vector<std::string> paths;
  for (const ir::Source& source : program.sources) paths.push_back(source.path);
  Status saved = session.store().close_run(
      {report.outputs, session.fingerprints(), plan.source_digest, paths, "apply", history_line(report)});
  if (!saved.ok() && report.status.ok()) report.status = saved;
}

// Steps whose nodes are all gone: an interrupted replacement leaves such records.
Status forget_orphans(Session& session) {
  Result<Snapshot> now = session.store().snapshot();
  if (!now.ok()) return now.status();
  for (const auto& [id, record] : now->steps) {
    bool has_node = std::any_of(record.nodes.begin(), record.nodes.end(),
                                [&](const std::string& node) { return now->resources.count(node) != 0; });
    if (has_node) continue;
    if (Status forgotten = session.store().forget_step(id); !forgotten.ok()) return forgotten;
    session.forget(id);
  }
  return {};
}

double seconds_since(Session& session, std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(session.world().clock.now() - begun).count();
}

}  // namespace

size_t RunReport::done() const { return count_state(actions, ActionOutcome::State::Done); }
size_t RunReport::failed() const { return count_state(actions, ActionOutcome::State::Failed); }
size_t RunReport::skipped() const { return count_state(actions, ActionOutcome::State::Skipped); }

RunReport apply(const Run& run, const Plan& plan) {
  RunReport report;
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) {
    report.status = snapshot.status();
    return report;
  }
  if (report.status = check_state_unmoved(plan, *snapshot); !report.status.ok()) return report;
  Session session(run, std::move(*snapshot));
  auto begun = run.world->clock.now();
  report.status = check_owners(session, clouds_of(session, &plan), true);
  if (!report.status.ok()) return report;
  tell_start(session, plan, "apply");
  report.status = PlanRun(session, plan, report).execute();
  bool failed = !report.status.ok() && report.status.code() != Code::Cancelled;
  if (failed && run.options.on_error == OnError::Destroy) destroy_what_was_made(session, plan, report);
  save_outcome(session, plan, report);
  report.seconds = seconds_since(session, begun);
  tell_end(session, report);
  return report;
}

RunReport destroy(const Run& run, const Plan& plan) {
  RunReport report;
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) {
    report.status = snapshot.status();
    return report;
  }
  if (report.status = check_state_unmoved(plan, *snapshot); !report.status.ok()) return report;
  // All that this run knows, not only those with something on record: what a cloud has that no state knows
  // of is just what is looked for.
  std::set<std::string> clouds;
  for (const auto& [address, record] : snapshot->resources) clouds.insert(record.cloud);
  for (const std::string& id : run.clouds->ids()) clouds.insert(id);
  std::vector<std::string> paths = snapshot->source_paths;
  Session session(run, std::move(*snapshot));
  auto begun = run.world->clock.now();
  report.status = check_owners(session, clouds_of(session, &plan), false);
  if (!report.status.ok()) return report;
  tell_start(session, plan, "destroy");
  report.status = PlanRun(session, plan, report).execute();
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state == ActionOutcome::State::Failed)
      report.leftovers.push_back(outcome.id + ": " + outcome.status.message());
  }
  // Only when all that is known is gone: what is left then is what nobody knows of.
  if (report.status.ok() && !plan.partial) {
    sweep(session, clouds, report.leftovers);
    if (!report.leftovers.empty())
      report.status = Status(Code::Conflict, "something is left: " + report.leftovers[0]);
  }
  Status forgotten = forget_orphans(session);
  if (report.status.ok()) report.status = forgotten;
  Snapshot after = session.snapshot();
  std::vector<OutputRecord> outputs = after.resources.empty() ? std::vector<OutputRecord>() : after.outputs;
  Status saved = session.store().close_run(
      {outputs, after.secrets, after.source_digest, paths, "destroy", history_line(report)});
  if (!saved.ok() && report.status.ok()) report.status = saved;
  report.seconds = seconds_since(session, begun);
  tell_end(session, report);
  return report;
}

}  // namespace radl

// apply and destroy: what comes before the plan's actions, and what follows when all is over.
#include "runtime/exec/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/base/arriving_folder.h"
#include "runtime/exec/failures.h"
#include "runtime/exec/host_keys.h"
#include "runtime/exec/login_keys.h"
#include "runtime/exec/owners.h"
#include "runtime/exec/ownership.h"
#include "runtime/exec/plan_run.h"
#include "runtime/exec/sweep.h"
#include "runtime/plan/plan_file.h"

namespace radl {

namespace {

size_t count_state(const std::vector<ActionOutcome>& actions, ActionOutcome::State state) {
  return static_cast<size_t>(std::count_if(
      actions.begin(), actions.end(), [&](const ActionOutcome& outcome) { return outcome.state == state; }));
}

void tell_start(Execution& execution, const Plan& plan, const char* command) {
  Event event;
  event.kind = EventKind::RunStarted;
  event.data = {{"command", command},
                {"infrastructure", plan.infrastructure},
                {"actions", plan.actions.size()},
                {"plan", to_json(plan)["totals"]}};
  execution.events.emit(std::move(event));
}

void tell_end(Execution& execution, const RunReport& report) {
  for (const OutputRecord& output : report.outputs) {
    Event event;
    event.kind = EventKind::OutputValue;
    event.id = output.name;
    event.data = {{"value", output.sensitive ? Json() : output.value}, {"sensitive", output.sensitive}};
    execution.events.emit(std::move(event));
  }
  Event event;
  event.kind = EventKind::RunFinished;
  event.message = report.status.message();
  event.data = {
      {"ok", report.status.ok()}, {"seconds", report.seconds}, {"code", code_name(report.status.code())},
      {"done", report.done()},    {"failed", report.failed()}, {"skipped", report.skipped()}};
  execution.events.emit(std::move(event));
}

std::string history_line(const RunReport& report) {
  std::string text = fmt::format("{} done", report.done());
  if (report.failed()) text += fmt::format(", {} failed", report.failed());
  if (report.skipped()) text += fmt::format(", {} skipped", report.skipped());
  return text;
}

// OnError::Destroy: what this run made goes again, with all that needs it.
void destroy_what_was_made(Execution& execution, const Plan& plan, RunReport& report) {
  Snapshot made = execution.snapshot();
  std::set<std::string> by_this_run;
  for (const Action& action : plan.actions) {
    if (action.verb == Verb::Create && !action.is_step) by_this_run.insert(action.id);
  }
  std::erase_if(made.resources, [&](const auto& entry) { return !by_this_run.count(entry.first); });
  Plan removal = make_destroy_plan(made);
  RunReport removed;
  Status status = execute_plan(execution, removal, removed);
  for (const ActionOutcome& outcome : removed.actions) {
    if (outcome.state != ActionOutcome::State::Done) {
      report.leftovers.push_back(leftover_of(outcome));
    }
  }
}

// If another run has applied another file meanwhile, its outputs, sources and secrets stay; of its outputs
// those get their values that waited for this run's jobs.
void save_outcome(Execution& execution, const Plan& plan, const std::string& digest_before,
                  RunReport& report) {
  const ir::Program& program = *execution.run.program;
  Snapshot now = execution.snapshot();
  report.outputs = resolve_outputs(program, now, nullptr);
  state_change::CloseRun close{
      report.outputs,      execution.fingerprints(), plan.source_digest, {}, execution.options().command,
      history_line(report)};
  for (const ir::Source& source : program.sources) close.source_paths.push_back(source.path);
  if (now.source_digest != digest_before && now.source_digest != plan.source_digest) {
    close.outputs = now.outputs;
    for (OutputRecord& theirs : close.outputs) {
      for (const OutputRecord& ours : report.outputs)
        if (ours.name == theirs.name && !ir::unknowns_in(theirs.value).empty()) theirs.value = ours.value;
    }
    close.secrets = now.secrets;
    close.source_digest = now.source_digest;
    close.source_paths = now.source_paths;
  }
  Status saved = execution.store().close_run(std::move(close));
  if (!saved.ok() && report.status.ok()) report.status = saved;
}

// Whoever supervises a job that ends with its nodes is told to let go of it: it would start again what the
// destroy ends.
Status end_supervision(Execution& execution, const Plan& plan) {
  const Snapshot now = execution.snapshot();
  std::set<std::string> ended;
  for (const auto& [id, by] : now.supervised) {
    auto record = now.steps.find(id);
    const bool goes = record == now.steps.end() ||
                      std::any_of(record->second.nodes.begin(), record->second.nodes.end(),
                                  [&](const std::string& node) { return plan.find(node) != nullptr; });
    if (!goes) continue;
    // Releasing it at once is safe: no one takes it without the state's lock.
    auto taken = execution.store().lease_job(id, "destroy", true, execution.now());
    if (!taken.ok()) return std::move(taken).status();
    ended.insert(id);
  }
  if (ended.empty()) return {};
  Result<std::vector<Intent>> open = execution.store().open_intents();
  if (!open.ok()) return open.status();
  std::vector<StateChange> changes;
  for (const Intent& intent : *open)
    if (intent.kind == Intent::Kind::Run && ended.count(intent.address))
      changes.push_back(state_change::Close{intent.id, "interrupted"});
  return changes.empty() ? Status() : execution.store().commit(changes).status();
}

// Steps whose nodes are all gone: an interrupted replacement leaves such records. An elastic farm that is
// done has none.
Status forget_orphans(Execution& execution) {
  Result<Snapshot> now = execution.store().snapshot();
  if (!now.ok()) return now.status();
  for (const auto& [id, record] : now->steps) {
    bool has_node = std::any_of(record.nodes.begin(), record.nodes.end(),
                                [&](const std::string& node) { return now->resources.count(node) != 0; });
    if (has_node || record.nodes.empty()) continue;
    if (Status forgotten = execution.store().forget_step(id); !forgotten.ok()) return forgotten;
    execution.forget(id);
  }
  return {};
}

// What is applied anew begins with what the file says.
Status forget_scaling(Execution& execution) {
  std::vector<StateChange> changes;
  execution.read([&](const Snapshot& snapshot) {
    for (const auto& [system, chosen] : snapshot.scaled)
      changes.push_back(state_change::PutScaling{system, std::nullopt});
  });
  return changes.empty() ? Status() : execution.store().commit(changes).status();
}

// What was released, and has gone because Run::also names it.
Status forget_released(Execution& execution, const std::set<std::string>& gone) {
  std::vector<StateChange> changes;
  execution.read([&](const Snapshot& snapshot) {
    for (const Released& one : snapshot.released)
      if (gone.count(one.id)) changes.push_back(state_change::DropReleased{one.cloud, one.id});
  });
  return changes.empty() ? Status() : execution.store().commit(changes).status();
}

double seconds_since(Execution& execution, std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>(execution.world().clock.now() - begun).count();
}

}  // namespace

Status ActionOutcome::told() const {
  // Messages about "NODE/STEP" often name only the node.
  const std::string of = id.substr(0, id.find('/'));
  if (status.ok() || status.message().find(of) != std::string::npos) return status;
  return Status(status).at(id);
}

size_t RunReport::done() const { return count_state(actions, ActionOutcome::State::Done); }
size_t RunReport::failed() const { return count_state(actions, ActionOutcome::State::Failed); }
size_t RunReport::skipped() const { return count_state(actions, ActionOutcome::State::Skipped); }

// What changes in the state alone comes first, and at once: actions go by the new names.
Result<Snapshot> change_records(const Run& run, const Plan& plan, Snapshot snapshot) {
  std::vector<StateChange> changes(plan.moves.begin(), plan.moves.end());
  changes.insert(changes.end(), plan.scaled.begin(), plan.scaled.end());
  for (const auto& [address, by] : plan.protections) changes.push_back(state_change::Protect{address, by});
  for (const auto& [address, spec] : plan.as_found) {
    auto record = snapshot.resources.find(address);
    if (record == snapshot.resources.end()) continue;
    ResourceRecord now = record->second;
    now.spec = spec;
    changes.push_back(state_change::PutResource{std::move(now)});
  }
  if (changes.empty()) return snapshot;
  Result<std::vector<long long>> committed = run.store->commit(std::move(changes));
  if (!committed.ok()) return committed.status();
  return run.store->snapshot();
}

RunReport apply(const Run& run, const Plan& plan) {
  RunReport report;
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) {
    report.status = snapshot.status();
    return report;
  }
  if (report.status = check_state_unmoved(plan, *snapshot); !report.status.ok()) return report;
  snapshot = change_records(run, plan, std::move(*snapshot));
  if (!snapshot.ok()) {
    report.status = snapshot.status();
    return report;
  }
  const std::string digest_before = snapshot->source_digest;
  Execution execution(run, std::move(*snapshot));
  auto begun = run.world->clock.now();
  sweep_arriving_folders(run.store->work_directory());
  report.status = check_owners(execution, clouds_of(execution, &plan), true);
  if (report.status.ok()) report.status = check_login_keys(execution, plan);
  if (!report.status.ok()) return report;
  tell_start(execution, plan, "apply");
  HostKeyCheck host_keys(execution);
  report.status = execute_plan(execution, plan, report);
  if (Status trusted = host_keys.end(); !trusted.ok() && report.status.ok())
    report.status = execution.events.mask(trusted);
  bool failed = !report.status.ok() && report.status.code() != Code::Cancelled;
  if (failed && run.options.on_error == OnError::Destroy) destroy_what_was_made(execution, plan, report);
  if (!execution.lock().given_back()) save_outcome(execution, plan, digest_before, report);
  report.seconds = seconds_since(execution, begun);
  tell_end(execution, report);
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
  // All clouds that this run knows, not only those with records: the sweep looks for resources that no state
  // knows.
  std::set<std::string> clouds;
  for (const auto& [address, record] : snapshot->resources) clouds.insert(record.cloud);
  for (const Released& one : snapshot->released) clouds.insert(one.cloud);
  for (const std::string& id : run.clouds->ids()) clouds.insert(id);
  std::vector<std::string> paths = snapshot->source_paths;
  Execution execution(run, std::move(*snapshot));
  auto begun = run.world->clock.now();
  sweep_arriving_folders(run.store->work_directory());
  report.status = check_owners(execution, clouds_of(execution, &plan), false);
  if (!report.status.ok()) return report;
  // Before any removal: records made now are found by id at the end.
  Result<Ownership> ownership = Ownership::of(execution);
  if (report.status = ownership.status(); !report.status.ok()) return report;
  const bool empty = execution.read([](const Snapshot& now) { return now.resources.empty(); });
  if (empty || !run.also.empty()) clouds.merge(ownership->clouds());
  for (const Kept& one : plan.kept)
    if (std::optional<ResourceRecord> record = execution.resource(one.address))
      ownership->keep(record->cloud, record->id);
  report.status = end_supervision(execution, plan);
  if (!report.status.ok()) return report;
  tell_start(execution, plan, "destroy");
  // First, because it may use what the plan removes.
  if (!run.also.empty()) sweep(execution, clouds, *ownership, report, true);
  if (!report.leftovers.empty())
    report.status = Status(Code::Conflict, "something is left: " + report.leftovers[0]);
  if (report.status.ok()) report.status = forget_released(execution, run.also);
  if (report.status.ok()) report.status = execute_plan(execution, plan, report);
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state == ActionOutcome::State::Failed) report.leftovers.push_back(leftover_of(outcome));
  }
  // Only after all known resources are gone: the rest is unknown to the state.
  if (report.status.ok() && !plan.partial) {
    sweep(execution, clouds, *ownership, report);
    if (!report.leftovers.empty())
      report.status = Status(Code::Conflict, "something is left: " + report.leftovers[0]);
  }
  Status forgotten = forget_orphans(execution);
  if (report.status.ok()) report.status = forgotten;
  if (report.status.ok() && !plan.partial) report.status = forget_scaling(execution);
  Snapshot after = execution.snapshot();
  std::vector<OutputRecord> outputs = after.resources.empty() ? std::vector<OutputRecord>() : after.outputs;
  Status saved = execution.store().close_run(
      {outputs, after.secrets, after.source_digest, paths, "destroy", history_line(report)});
  if (!saved.ok() && report.status.ok()) report.status = saved;
  report.seconds = seconds_since(execution, begun);
  tell_end(execution, report);
  return report;
}

}  // namespace radl

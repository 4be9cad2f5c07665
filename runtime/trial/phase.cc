#include "runtime/trial/phase.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/files.h"
#include "runtime/trial/process_copy.h"
#include "runtime/trial/program.h"

namespace radl {
namespace {

// The events of a run as lines.
class Teller : public EventSink {
 public:
  explicit Teller(TrialWorld& world) : world_(world) {}
  void emit(const Event& event) override {
    std::string line = std::string(event_kind_name(event.kind));
    for (const std::string& part : {event.verb, event.id, event.message})
      if (!part.empty()) line += " " + part;
    if (event.kind == EventKind::ActionRetry || event.kind == EventKind::NodePhase ||
        event.kind == EventKind::Recovered)
      line += " " + event.data.dump();
    world_.tell(line);
  }

 private:
  TrialWorld& world_;
};

Status recover_first(const Run& run) {
  Result<Recovery> recovered = recover(run);
  return recovered.ok() ? Status() : std::move(recovered).status().at("recovering");
}

Status apply_once(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase, Run& run) {
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  std::optional<Observed> observed;
  if (phase.refresh) {
    Result<Observed> looked = refresh(run, *snapshot);
    if (!looked.ok()) return std::move(looked).status().at("refreshing");
    observed = std::move(*looked);
    if (Status kept = accept_observed(run, *snapshot, *observed); !kept.ok()) return kept;
    snapshot = run.store->snapshot();
    if (!snapshot.ok()) return snapshot.status();
  }
  Result<Plan> plan = plan_now(world, subject, *phase.program, *snapshot, observed ? &*observed : nullptr);
  if (!plan.ok()) return std::move(plan).status().at("planning");
  RunReport report = apply(run, *plan);
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state == ActionOutcome::State::Failed)
      world.tell("FAILED " + outcome.id + ": " + outcome.status.message());
  }
  if (report.status.ok() && !report.left_running.empty())
    return {Code::Retry, report.left_running.front() + " runs on"};
  if (report.status.ok() && !plan->unseen.empty()) {
    return {Code::Retry,
            plan->unseen.begin()->first + " could not be looked at: " + plan->unseen.begin()->second};
  }
  return report.status;
}

Status destroy_once(TrialWorld& world, Run& run, PhaseOutcome& outcome) {
  // As `radlc destroy` does: what was released and is gone keeps nothing from being removed.
  Result<Others> others = look_for_others(run);
  if (!others.ok()) return others.status();
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  RunReport report = destroy(run, make_destroy_plan(*snapshot));
  for (const std::string& leftover : report.leftovers) world.tell("LEFTOVER " + leftover);
  for (const Unowned& one : report.unowned) {
    world.tell("LEFT ALONE " + one.text());
    outcome.unowned.push_back(one.id);
  }
  if (report.status.ok() && !report.leftovers.empty())
    return {Code::Retry, "could not be removed: " + report.leftovers.front()};
  return report.status;
}

// A state that was lost, out of what its clouds have of the same name.
Status rebuild(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase, Run& run) {
  const std::string& name = phase.program->name;
  std::set<std::string> ids;
  for (simulated::SimulatedCloud* cloud : world.all_clouds) ids.insert(cloud->id().text());
  Result<Snapshot> snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Context context;
  context.infrastructure = infrastructure_tag(name, snapshot->lineage);
  std::map<std::string, std::string> failed;
  Result<std::vector<Elsewhere>> existing = existing_of(world.clouds, ids, context, name, failed);
  if (!existing.ok()) return existing.status();
  if (!failed.empty()) return {Code::Retry, failed.begin()->first + ": " + failed.begin()->second};
  if (existing->empty()) return not_found("no cloud has anything of an infrastructure named " + name);
  const std::string& tag = existing->front().infrastructure;
  auto taken = run.store->commit({state_change::TakeLineage{tag.substr(name.size() + 1)}});
  if (!taken.ok()) return taken.status();
  snapshot = run.store->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  Result<Plan> plan = plan_now(world, subject, *phase.program, *snapshot, nullptr);
  if (!plan.ok()) return plan.status();
  return import_all(run, *plan).status();
}

const char* command_of(TrialPhase::Kind kind) {
  switch (kind) {
    case TrialPhase::Kind::Apply:
      return "apply";
    case TrialPhase::Kind::Destroy:
      return "destroy";
    case TrialPhase::Kind::Release:
      return "state rm";
    case TrialPhase::Kind::Rebuild:
      return "import";
  }
  return "";
}

Status run_kind(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase, Run& run,
                PhaseOutcome& outcome) {
  switch (phase.kind) {
    case TrialPhase::Kind::Apply:
      return apply_once(world, subject, phase, run);
    case TrialPhase::Kind::Destroy:
      return destroy_once(world, run, outcome);
    case TrialPhase::Kind::Release:
      return release_resource(run, phase.address).status();
    case TrialPhase::Kind::Rebuild:
      return rebuild(world, subject, phase, run);
  }
  return {};
}

Run parts_of(TrialWorld& world, const TrialSubject& subject, const ir::Program* program) {
  Run run;
  run.world = &world.world;
  run.clouds = &world.clouds;
  for (ir::StepKind kind : {ir::StepKind::Native, ir::StepKind::Ansible, ir::StepKind::CloudInit,
                            ir::StepKind::Training, ir::StepKind::Program})
    run.runners[kind] = world.machines.get();
  run.connect = world.machines->connector();
  run.program = program;
  run.secrets = &subject.secrets;
  return run;
}

// What another run does while a job of the phase runs. It may fail as any other.
bool run_beside(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase) {
  auto store = world.open_store(OpenMode::Write, phase.copy);
  if (!store.ok() || !(*store)->lock("apply", std::chrono::milliseconds(0)).ok()) return false;
  world.tell("-- another run begins");
  Cancellation cancellation;
  Cancellation* const outer = std::exchange(world.cancellation, &cancellation);
  Teller teller(world);
  TrialPhase other;
  other.program = phase.beside;
  Run run = parts_of(world, subject, other.program);
  run.store = store->get();
  if (world.told()) run.sinks = {&teller};
  run.cancellation = &cancellation;
  run.options.parallelism = 1;
  Status status = recover_first(run);
  if (status.ok()) status = apply_once(world, subject, other, run);
  world.cancellation = outer;
  world.tell("-- the other run " + (status.ok() ? "is done" : "ended: " + status.message()));
  return true;
}

// The next round of an apply that supervises trainings for which another run has chosen other workers.
Status follow_scaling(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase, Run& run,
                      PhaseOutcome& outcome) {
  TrialPhase next = phase;
  next.program = run.program = phase.beside;
  run.let_go = {};
  const int before = world.machines->joined();
  Status status = recover_first(run);
  if (status.ok()) status = run_kind(world, subject, next, run, outcome);
  outcome.restarted = status.ok() && world.machines->joined() == before;
  return status;
}

Status run_locked(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase, Store& store,
                  PhaseOutcome& outcome) {
  const char* command = command_of(phase.kind);
  if (Status locked = store.lock(command, std::chrono::milliseconds(0)); !locked.ok()) return locked;
  Cancellation cancellation;
  Teller teller(world);
  Run run = parts_of(world, subject, phase.program);
  run.store = &store;
  run.options.command = command;
  run.options.detach = phase.detach;
  if (world.told()) run.sinks = {&teller};
  run.cancellation = world.cancellation = &cancellation;
  run.options.parallelism = phase.parallelism;
  run.options.on_error = phase.on_error;
  world.aim(phase.strike);
  bool scaled = false;
  run.let_go = Stop::when([&scaled] { return scaled; });
  if (phase.beside) {
    world.machines->beside = [&] {
      outcome.beside = run_beside(world, subject, phase);
      scaled = outcome.beside && takes_workers(*phase.program, *phase.beside);
    };
  }
  Status status = recover_first(run);
  if (status.ok()) status = run_kind(world, subject, phase, run, outcome);
  world.machines->beside = nullptr;
  if (scaled && status.code() == Code::Retry) status = follow_scaling(world, subject, phase, run, outcome);
  world.disarm();
  return status;
}

std::string as_text(const PhaseOutcome& outcome) {
  return Json{{"code", static_cast<int>(outcome.status.code())},
              {"message", outcome.status.message()},
              {"struck", outcome.struck},
              {"beside", outcome.beside},
              {"restarted", outcome.restarted},
              {"calls", outcome.calls},
              {"unowned", outcome.unowned},
              {"ended", outcome.ended}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

void from_text(const std::string& text, PhaseOutcome& outcome) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return;
  if (json.at("code") != 0)
    outcome.status = Status(static_cast<Code>(json.at("code").get<int>()), json.at("message"));
  outcome.struck = json.at("struck");
  outcome.beside = json.at("beside");
  outcome.restarted = json.at("restarted");
  outcome.calls = json.at("calls");
  outcome.unowned = json.at("unowned").get<std::vector<std::string>>();
  outcome.ended = json.at("ended");
}

std::string read_to_end(int descriptor) {
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(descriptor, buffer, sizeof buffer)) != 0;) {
    if (got > 0) text.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  return text;
}

}  // namespace

std::string TrialPhase::text() const {
  std::string text = command_of(kind);
  if (!address.empty()) text += " " + address;
  if (!copy.empty()) text += ", from a copy of the state";
  if (refresh) text += " with refresh";
  if (detach) text += ", detached";
  if (beside) text += ", with another run beside";
  if (on_error == OnError::Retry) text += ", on error retry";
  if (on_error == OnError::Destroy) text += ", on error destroy";
  if (strike.how == Strike::How::Stop) text += fmt::format(", Ctrl-C at point {}", strike.at);
  if (strike.how == Strike::How::StopNow) text += fmt::format(", Ctrl-C twice at point {}", strike.at);
  if (strike.how == Strike::How::Kill) text += fmt::format(", killed at point {}", strike.at);
  return text;
}

Result<Plan> plan_now(TrialWorld& world, const TrialSubject& subject, const ir::Program& program,
                      const Snapshot& snapshot, const Observed* observed) {
  return make_plan({program,
                    snapshot,
                    world.clouds,
                    subject.catalog,
                    fingerprints(snapshot, subject.secrets),
                    observed,
                    {},
                    {}});
}

PhaseOutcome run_phase(TrialWorld& world, const TrialSubject& subject, const TrialPhase& phase) {
  PhaseOutcome outcome;
  long long calls_before = world.calls();
  world.tell("---- " + phase.text());
  const bool applies = phase.kind == TrialPhase::Kind::Apply || phase.kind == TrialPhase::Kind::Rebuild;
  Result<std::unique_ptr<Store>> store =
      world.open_store(applies ? OpenMode::Create : OpenMode::Write, phase.copy);
  if (!store.ok()) {
    // A run that was killed before it had made a state has nothing to destroy.
    if (applies || store.status().code() != Code::NotFound) outcome.status = store.status();
    return outcome;
  }
  outcome.status = run_locked(world, subject, phase, **store, outcome);
  outcome.struck = world.struck();
  outcome.calls = world.calls() - calls_before;
  if (Status removed = world.remove_real_nodes(false); outcome.status.ok())
    outcome.status = std::move(removed);
  world.tell("---- " + (outcome.status.ok() ? "done" : "ended: " + outcome.status.message()));
  return outcome;
}

PhaseOutcome run_phase_in_child(const Setting& setting, uint64_t process, double wall,
                                const simulated::Faults& faults, const TrialPhase& phase) {
  PhaseOutcome outcome;
  auto copy = copy_process([&](int answers) {
    PhaseOutcome made;
    Result<std::unique_ptr<TrialWorld>> world = TrialWorld::make(setting, process, wall);
    if (world.ok()) {
      (*world)->set_faults(faults);
      made = run_phase(**world, setting.subject, phase);
      made.ended = (*world)->clock.wall_seconds();
    } else {
      made.status = world.status();
    }
    (void)write_all(answers, as_text(made), "pipe");
  });
  if (!copy.ok()) {
    outcome.status = copy.status();
    return outcome;
  }
  from_text(read_to_end(copy->answers), outcome);
  ::close(copy->answers);
  int ended = 0;
  while (::waitpid(copy->process, &ended, 0) < 0 && errno == EINTR) continue;
  outcome.killed = WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL && phase.strike.how == Strike::How::Kill;
  outcome.struck |= outcome.killed;
  if (outcome.killed) outcome.status = Status(Code::Lost, "killed");
  if (WIFSIGNALED(ended) && !outcome.killed) outcome.crashed_by = WTERMSIG(ended);
  if (WIFEXITED(ended) && WEXITSTATUS(ended) != 0) outcome.crashed_by = 256 + WEXITSTATUS(ended);
  return outcome;
}

}  // namespace radl

#include "runtime/cli/cluster_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "common/human.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/foresight_facts.h"
#include "runtime/driver/probe.h"
#include "runtime/driver/program_facts.h"
#include "runtime/plan/render.h"
#include "runtime/state/index.h"
#include "runtime/state/store.h"

namespace radl::cli {
namespace {

constexpr double kFewestSteps = 20;  // of a worker: fewer say more of starting than of training

// Everything that one probe holds.
struct Probe {
  const Session& session;
  const ProbeRequest& request;
  Project& project;
  std::unique_ptr<Machinery> machinery;
  std::string name, job_id;
  bool of_program() const { return !request.program.empty(); }

  ir::Program& program() const { return project.compiled.program; }
  Run parts() const {
    Run parts = machinery->run();
    parts.program = &program();
    parts.secrets = &project.compiled.secrets;
    return parts;
  }
  Result<Plan> plan(ActiveRun& run) const {
    const Tell tell = tell_on_stderr();
    PlanQuestion question = question_of(project, *machinery, {}, tell);
    question.prepare = {};  // the program is this probe's, not the file's
    return run.plan(question);
  }
};

// How much of an epoch a probe of so many seconds is, by what is known of the training.
Result<double> epochs_for(const Probe& probe, const Plan& plan, double seconds) {
  const auto forecasts = forecasts_or_note(plan, probe.project, *probe.machinery);
  const auto forecast = std::find_if(forecasts.begin(), forecasts.end(),
                                     [&](const PlanForecast& one) { return one.training == probe.job_id; });
  if (forecast == forecasts.end() || !forecast->epoch.known())
    return not_found(forecast == forecasts.end() ? "the training would not run" : forecast->unknown)
        .with_hint("measure a step first, then a cluster: radlc profile" + probe.project.words);
  for (const ir::Step* step : trainings_of(probe.program())) {
    if (step->id != probe.job_id) continue;
    const foresight::TrainingFacts facts = training_facts(probe.session.host.environment(), *step);
    const double least = kFewestSteps * facts.batch * facts.workers / facts.images;
    return std::min(std::max(seconds / forecast->epoch.value, least), std::max(facts.epochs, least));
  }
  return internal_error("the probe has no training");
}

void show(const Probe& probe, const Plan& plan, const std::vector<PlanForecast>& forecasts) {
  PlanTextOptions look = plan_look(probe.session);
  look.forecasts = forecasts;
  std::fputs(shown(render_text(plan, look), look.color).c_str(), stdout);
  std::string cost = "its cost is unknown";
  std::string time = "for an unknown time";
  for (const PlanForecast& forecast : forecasts) {
    if (forecast.total.known()) time = "for about " + duration_text(forecast.total.value);
    if (forecast.cost)
      cost = forecast.cost->zero() ? "it costs nothing" : "about " + forecast.cost->text() + " in all";
  }
  if (probe.of_program())
    std::printf(
        "\nA probe: radlc creates this cluster, runs the program for at most %s, and destroys the cluster.\n",
        duration_text(probe.request.seconds).c_str());
  else
    std::printf("\nA probe: radlc creates this cluster, trains %s, and destroys the cluster; %s.\n",
                time.c_str(), shown(cost).c_str());
  std::fflush(stdout);
}

Result<bool> approved(const Probe& probe) {
  if (probe.request.run.auto_approve) return true;
  if (!probe.session.terminal.can_ask) return invalid(kCannotConfirm).with_hint("pass --auto-approve");
  return confirm("\nRun this probe? Only 'yes' is accepted:");
}

// Prints the probe's durations beside the earlier predictions; nothing if it did not train.
void tell(const Probe& probe, const std::vector<PlanForecast>& forecasts, const Snapshot& after) {
  const auto record = after.steps.find(probe.job_id);
  if (record == after.steps.end() || !record->second.output.contains("seconds")) return;
  const double seconds = record->second.output["seconds"];
  if (probe.of_program()) {
    if (auto run = program_run({}, record->second.output); run.ok())
      std::printf("Probed: %s. Plans and recommendations use it from now on.\n",
                  shown(probed_text(*run)).c_str());
    return;
  }
  for (const PlanForecast& forecast : forecasts)
    for (const auto& [name, phase] : forecast.phases)
      if (name == "train" && phase.known())
        std::printf("Probed: %s, predicted %s. The next forecast uses it.\n", duration_text(seconds).c_str(),
                    duration_text(phase.value).c_str());
  const auto exchange = record->second.output.find("exchange");
  if (exchange == record->second.output.end()) return;
  auto line = [&](const char* key, const char* what, auto text) {
    if (exchange->contains(key))
      std::printf("  %-30s %s\n", what, std::string(text((*exchange)[key].get<double>())).c_str());
  };
  line("sent_bytes_per_step", "a worker sends in a step", bytes_text);
  line("received_bytes_per_step", "a worker gets in a step", bytes_text);
  line("round_trip_seconds", "round trip between nodes",
       [](double s) { return fmt::format("{:.2f} ms", s * 1e3); });
  line("link_bytes_per_second", "a link carries", [](double b) { return bytes_text(b) + "/s"; });
}

// Whatever became of it, nothing of it stays.
int take_down(const Probe& probe) {
  Cancellation cancellation;
  auto run = begin_run(probe.session, probe.parts(), probe.project.state_directory, probe.name,
                       OpenMode::Write, "destroy", probe.request.run.lock_timeout, cancellation);
  if (!run.ok()) return report(probe.session, run.status());
  if (Status recovered = recover_left(**run, tell_on_stderr()); !recovered.ok())
    return report(probe.session, recovered);
  auto snapshot = (*run)->snapshot();
  if (!snapshot.ok()) return report(probe.session, snapshot.status());
  const Plan plan = make_destroy_plan(*snapshot);
  SignalGuard guard(cancellation);
  RunReport done = (*run)->destroy(plan);
  keep_figures_or_note(probe.session.host, (*run)->figures(plan, done), probe.project.state_directory);
  if (!done.status.ok() || done.failed() > 0) {
    std::fprintf(stderr, "error: the probe is not gone: radlc destroy%s --name %s\n",
                 shown(probe.project.words).c_str(), shell_word(probe.name).c_str());
    return report_run(probe.session, done, false);
  }
  end_run(**run);
  run->reset();
  Status removed =
      remove_state(probe.project.state_directory, probe.name, *probe.session.host.world, cancellation.now());
  if (!removed.ok() && removed.code() != Code::NotFound) return report(probe.session, removed);
  // An index that cannot be written is not an error: `radlc list` skips missing states.
  (void)forget_state(probe.session.host.infrastructures_index(), {probe.project.state_directory, probe.name});
  std::puts("Taken down: nothing of the probe is left.");
  return kDone;
}

// Creates the cluster, trains, and records the durations.
int make_and_train(const Probe& probe, ActiveRun& run, const Plan& plan, Cancellation& cancellation,
                   const std::vector<PlanForecast>& forecasts) {
  SignalGuard guard(cancellation);
  Listeners listeners;
  if (Status begun = listeners.begin(run, probe.session, probe.request.run, plan); !begun.ok())
    return report(probe.session, begun);
  RunReport done = run.apply(plan);
  run.store().unlock();
  Status told = listeners.end(run, cancellation.now());
  const int code = report_run(probe.session, done, false);
  RunFigures figures = run.figures(plan, done);
  predict_training(forecasts, figures);
  auto after = run.snapshot();
  if (!after.ok()) return report(probe.session, after.status());
  measure_jobs(plan, done, *after, figures);
  keep_figures_or_note(probe.session.host, std::move(figures), probe.project.state_directory);
  keep_trainings_or_note(plan, probe.project, *probe.machinery, done, *after);
  if (code == kDone) tell(probe, forecasts, *after);
  const auto record = after->steps.find(probe.job_id);
  if (probe.of_program() && (record == after->steps.end() || record->second.status != StepStatus::Done))
    std::fputs("note: nothing is kept of a program that failed\n", stderr);
  return code == kDone && !told.ok() ? report(probe.session, told) : code;
}

// The plan of the probe, which begins as one of the whole training.
Result<Plan> plan_probe(const Probe& probe, ActiveRun& run) {
  const std::string folder =
      work_directory_of(probe.project.state_directory, probe.name, probe.session.host.environment()) +
      "/probed";
  if (probe.of_program()) {
    Status made = make_program_probe(probe.program(), probe.job_id, probe.request.seconds, folder);
    if (!made.ok()) return made;
    return probe.plan(run);
  }
  auto whole = probe.plan(run);
  if (!whole.ok()) return whole;
  auto epochs = epochs_for(probe, *whole, probe.request.seconds);
  if (!epochs.ok()) return std::move(epochs).status();
  Status made = make_probe(probe.program(), probe.job_id, *epochs, probe.request.batch, folder,
                           probe.session.host.environment());
  if (!made.ok()) return made;
  return probe.plan(run);
}

// An earlier probe was killed. On this computer it costs nothing and is radlc's own: it goes first.
int remove_left(const Probe& probe, const Snapshot& left) {
  const bool here =
      probe.request.here && std::all_of(left.resources.begin(), left.resources.end(),
                                        [](const auto& one) { return one.second.cloud == "local"; });
  if (here) return take_down(probe);
  return report(probe.session, Status(Code::Conflict, "an earlier probe is not taken down")
                                   .with_hint(fmt::format("radlc destroy{} --name {}", probe.project.words,
                                                          shell_word(probe.name))));
}

}  // namespace

int run_probe(const Session& session, const ProbeRequest& request, Project& project) {
  auto job = request.program.empty() ? find_training(project.compiled.program, request.training)
                                     : find_program(project.compiled.program, request.program);
  if (!job.ok()) return report(session, job.status());
  Probe probe{session, request, project, {}, project.compiled.program.name + "-probe", (*job)->id};
  probe.program().name = probe.name;
  auto machinery = make_machinery(session.host, request.run);
  if (!machinery.ok()) return report(session, machinery.status());
  probe.machinery = std::move(*machinery);
  auto left = read_snapshot(session.host, project.state_directory, probe.name);
  if (!left.ok()) return report(session, left.status());
  if (!left->resources.empty())
    if (const int gone = remove_left(probe, *left); gone != kDone) return gone;
  Cancellation cancellation;
  auto run = begin_run(session, probe.parts(), project.state_directory, probe.name, OpenMode::Create,
                       "profile", request.run.lock_timeout, cancellation);
  if (!run.ok()) return report(session, run.status());
  auto plan = plan_probe(probe, **run);
  const auto forecasts =
      plan.ok() ? forecasts_or_note(*plan, project, *probe.machinery) : std::vector<PlanForecast>();
  if (plan.ok()) show(probe, *plan, forecasts);
  Result<bool> go = plan.ok() ? approved(probe) : Result<bool>(plan.status());
  if (!go.ok() || !*go) {
    run->reset();
    (void)remove_state(project.state_directory, probe.name, *probe.session.host.world);
    if (!go.ok()) return report(session, go.status());
    std::puts("Nothing was done.");
    return kUserError;
  }
  remember_or_note(session.host, project.state_directory,
                   probe.name);  // until it is gone, `radlc list` has it
  const int trained = make_and_train(probe, **run, *plan, cancellation, forecasts);
  end_run(**run);
  run->reset();
  const int gone = take_down(probe);
  return trained != kDone ? trained : gone;
}

}  // namespace radl::cli

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/apply.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/apply.h"
#include "runtime/plan/render.h"

namespace radl::cli::apply_command {
namespace {

// From the files to the state with its lock. `guard` is set once the apply waits for more than an answer.
Status begin(const Session& session, const Options& options, Cancellation& cancellation,
             std::optional<SignalGuard>& guard, Apply& apply) {
  const Status loaded = apply.load(asks_for_inputs(session));
  print_findings(session, apply.project(), loaded);
  if (!loaded.ok()) return loaded;
  auto password = given_sudo_password(session, options.run.ask_sudo_password);
  if (!password.ok()) return std::move(password).status();
  use_sudo_password(apply.project(), *password);
  guard.emplace(cancellation);
  Status begun = apply.begin();
  const Project& project = apply.project();
  if (was_moved(session, begun, project.state_directory, project.compiled.program.name))
    begun = apply.begin();
  return begun;
}

// True: go on.
Result<bool> approved(const Session& session, const Options& options, const Apply& apply) {
  if (!apply.asks_approval() || options.run.auto_approve || !options.job.empty()) return true;
  if (!session.terminal.can_ask) {
    return Status(Code::Invalid, kCannotConfirm)
        .with_hint("pass --auto-approve, or save the plan with `radlc plan" + project_words(apply.options()) +
                   " --out PLAN` and apply it with `radlc apply PLAN`");
  }
  return confirm("\nApply this plan? Only 'yes' is accepted:");
}

void show(const Session& session, const Apply& apply) {
  PlanTextOptions look = plan_look(session);
  look.forecasts = apply.forecasts();
  std::fputs(shown(render_text(apply.plan(), look), look.color).c_str(), stdout);
  std::fflush(stdout);
}

void warn_of_others(const Apply& apply, const std::string& words) {
  for (const Elsewhere& one : apply.plan().elsewhere)
    std::fprintf(stderr,
                 "warning: %s exists already in %s. If its state was lost: `radlc import --all%s`, or `radlc "
                 "destroy --from-cloud %s`\n",
                 shown(one.infrastructure).c_str(), shown(one.cloud).c_str(), words.c_str(),
                 shown(one.infrastructure).c_str());
}

// One round; `goes_on`: another one follows.
int execute(const Session& session, const Options& options, Apply& apply, const Stop& stop, bool& goes_on) {
  Listeners listeners;
  if (Status begun = listeners.begin(apply.run(), session, options.run, apply.plan()); !begun.ok())
    return report(session, begun);
  const ApplyRound round = apply.run_round();
  goes_on = round.goes_on;
  Status told = listeners.end(apply.run(), stop);
  for (const std::string& line : round.room) std::fprintf(stderr, "%s\n", shown(line).c_str());
  int code = goes_on ? int(kWorldError) : report_run(session, round.report, options.run.json);
  if (!told.ok()) code = std::max(code, report(session, told));
  for (const std::string& job : goes_on ? std::vector<std::string>() : round.report.left_running)
    std::fprintf(stderr, "%s runs on its nodes. Follow it and fetch its results: radlc wait%s %s\n",
                 shown(job).c_str(), apply.project().words.c_str(), shown(job).c_str());
  note_unkept_figures(round.figures_kept);
  note_unkept_trainings(round.trainings_kept);
  if (!options.run.json && round.after.ok())
    std::fputs(summary_table(session, apply.plan(), round.report, *round.after,
                             "radlc destroy" + project_words(apply.options()))
                   .c_str(),
               stdout);
  if (goes_on && round.wait.count() > 0)
    std::fprintf(stderr, "radlc tries again in %lld s\n", static_cast<long long>(round.wait.count() / 1000));
  for (const auto& [address, when] : goes_on ? round.lost : decltype(round.lost)())
    std::fprintf(stderr, "%s was %s: radlc replaces it, and its jobs resume from their checkpoints\n",
                 shown(address).c_str(),
                 !when              ? "lost"
                 : *when == kFaulty ? "quarantined because its tasks fail"
                 : when->empty()    ? "preempted"
                                    : shown("preempted (" + *when + ")").c_str());
  return code;
}

int execute_all(const Session& session, const Options& options, Apply& apply, const Stop& stop) {
  while (true) {
    bool goes_on = false;
    const int done = execute(session, options, apply, stop, goes_on);
    if (!goes_on) return done;
    if (Status next = apply.plan_next_round(); !next.ok())
      return report_unplanned(session, apply.project(), next);
  }
}

}  // namespace

int run(const Session& session, Options& options) {
  Cancellation cancellation;
  Apply apply(
      session.host,
      {options.project, options.run, options.request, options.scale, on_error_named(options.run.on_error),
       options.run.lock_timeout, options.detach, options.keep, options.job},
      cancellation, tell_on_stderr());
  std::optional<SignalGuard> guard;  // ends before apply.leaving()
  if (Status ready = begin(session, options, cancellation, guard, apply); !ready.ok())
    return report(session, ready);
  if (Status planned = apply.make_plan(); !planned.ok())
    return report_unplanned(session, apply.project(), planned);
  if (!options.run.json) show(session, apply);
  if (!apply.within_budget().ok()) return report(session, apply.within_budget());
  warn_of_others(apply, apply.project().words);
  const int unseen = report_unseen(session, apply.plan());
  if (!apply.plan().changes_anything()) return unseen;
  auto go = approved(session, options, apply);
  if (!go.ok()) return report(session, go.status());
  if (Status stopped = cancellation.finishing().check(); !stopped.ok()) return report(session, stopped);
  if (!*go) {
    std::fputs("Nothing was done.\n", stdout);
    return kUserError;
  }
  if (Status open = apply.check_buckets(); !open.ok()) return report(session, open);
  if (!options.scale) guard->on_hang_up(apply.leaving());
  const int done = execute_all(session, options, apply, cancellation.now());
  end_run(apply.run());
  return done == kDone ? unseen : done;
}

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("apply", "Create, configure and train what the files describe");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  add_run_options(*command, options->run);
  add_sudo_option(*command, options->run.ask_sudo_password);
  command->get_option("FILE")->description(
      "RADL files, their folder, or one plan saved by `radlc plan --out`");
  command->add_flag("--refresh", options->request.refresh, "inspect the nodes first and repair drift");
  command->add_option("--replace", options->request.replace, "replace this node, for example 'worker[0]'")
      ->type_name("ADDRESS");
  add_target_option(*command, options->request.targets);
  add_max_cost_option(*command, options->request);
  command
      ->add_option("--on-error", options->run.on_error,
                   "after a failure: keep what exists, retry, or destroy what this run created")
      ->check(CLI::IsMember({"keep", "retry", "destroy"}))
      ->capture_default_str();
  command->add_flag("--keep", options->keep,
                    "keep the nodes of elastic farms when they are idle and at the end");
  command->add_flag("--detach", options->detach,
                    "return once nothing but trainings and programs is under way; they run on");
  return [options, &session] {
    if (session.server.empty()) return run(session, *options);
    return run_on_service(session, {.project = options->project,
                                    .run = options->run,
                                    .plan = options->request,
                                    .detach = options->detach,
                                    .keep = options->keep});
  };
}

}  // namespace radl::cli::apply_command

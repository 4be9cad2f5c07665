#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/base/sudo_secret.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/given_back.h"
#include "runtime/cli/project_state.h"
#include "runtime/cli/protection.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/user_files.h"
#include "runtime/cli/workflow.h"
#include "runtime/plan/render.h"
#include "runtime/plan/step_facts.h"
#include "runtime/state/index.h"

namespace radl::cli::destroy_command {
namespace {

struct Options {
  ProjectOptions project;
  RunOptions run;
  std::vector<std::string> targets;
  std::vector<std::string> unused_inputs;
};

// True: go on.
Result<bool> approved(const Session& session, const Options& options, const Plan& plan) {
  if (!plan.changes_anything() || options.run.auto_approve) return true;
  if (!session.terminal.can_ask) {
    return Status(Code::Invalid, "there is nobody to ask whether this may be destroyed")
        .with_hint("say --auto-approve");
  }
  return confirm("\nDestroy all of this? Only 'yes' is taken as yes:");
}

int execute(const Session& session, const Options& options, std::unique_ptr<ActiveRun> run,
            const StatePlace& place, Cancellation& cancellation) {
  auto snapshot = run->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto made = make_destroy_plan(*snapshot, {options.targets.begin(), options.targets.end()});
  if (!made.ok()) return report(session, made.status());
  tell_what_stays(*made, *snapshot);
  const Plan& plan = *made;
  std::vector<std::string> files = snapshot->source_paths;
  files.insert(files.end(), options.project.files.begin(), options.project.files.end());
  if (Status allowed = check_files_allow(plan, *snapshot, files); !allowed.ok())
    return report(session, allowed);
  if (!options.run.json) {
    PlanTextOptions look;
    look.color = session.terminal.color;
    std::fputs(shown(render_text(plan, look), look.color).c_str(), stdout);
    std::fflush(stdout);
  }
  auto go = approved(session, options, plan);
  if (!go.ok()) return report(session, go.status());
  if (!*go) {
    std::fputs("Nothing was destroyed.\n", stdout);
    return kUserError;
  }
  SignalGuard guard(cancellation);
  Listeners listeners;
  if (Status begun = listeners.begin(*run, session, options.run, plan); !begun.ok())
    return report(session, begun);
  RunReport done = run->destroy(plan);
  run->store().unlock();  // whoever listens slowly holds up nobody
  RunFigures figures = run->figures(plan, done);
  if (!plan.partial) figures.life_cost = cost_of_life(*snapshot, run->ended());
  keep_figures(std::move(figures), place.directory);
  Status told = listeners.end(*run, cancellation.now());
  end_run(*run);
  int code = report_run(session, done, options.run.json);
  int untold = told.ok() ? int(kDone) : report(session, told);
  if (code != kDone) return code;
  if (plan.partial) {
    if (!options.run.json)
      std::printf("Destroyed: %zu of %s; the rest stays.\n", done.done(), place.name.c_str());
    return untold;
  }
  run.reset();  // its lock is taken again by the removal, unless a run that waited for it is faster
  Status removed = remove_state(place.directory, place.name, real_world());
  if (removed.code() == Code::Conflict) {
    std::fprintf(stderr, "note: the state is kept for another run: %s\n", shown(removed.message()).c_str());
    return untold;
  }
  if (!removed.ok() && removed.code() != Code::NotFound && removed.code() != Code::Lost)
    return report(session, removed);
  // A list that cannot be written is no error: `radlc list` says then that there is none.
  (void)forget_state(infrastructures_index(), {place.directory, place.name});
  if (!options.run.json) {
    std::printf("Destroyed: %s. Nothing is left.\n", place.name.c_str());
    for (const std::string& kept : bucket_places(*snapshot))
      std::printf("Models and checkpoints in %s stay.\n", shown(kept).c_str());
  }
  return untold;
}

int run_destroy(const Session& session, const Options& options) {
  if (!options.unused_inputs.empty())
    std::fputs("note: destroy removes what the state has; inputs change nothing in that\n", stderr);
  auto directory = state_directory(options.project);
  if (!directory.ok()) return report(session, directory.status());
  if (Status swept = sweep_unmade_states(*directory); !swept.ok()) return report(session, swept);
  auto place = find_state(options.project);
  if (!place.ok()) {
    // Destroying what is not there is what was wanted, but a wrong folder should be noticed.
    if (place.status().code() == Code::NotFound && options.project.name.empty()) {
      std::printf("Nothing to destroy: %s.\n", place.status().message().c_str());
      return kDone;
    }
    return report(session, place.status());
  }
  auto machinery = make_machinery(options.run);
  if (!machinery.ok()) return report(session, machinery.status());
  Cancellation cancellation;
  ir::Secrets secrets;  // of the file it needs none: what it removes is in the state
  auto password = given_sudo_password(session, options.run.ask_sudo_password);
  if (!password.ok()) return report(session, password.status());
  if (!password->empty()) secrets[kSudoSecret] = *password;
  Run parts = (*machinery)->run();
  parts.secrets = &secrets;
  auto guard = std::make_unique<SignalGuard>(cancellation);
  auto run = begin_run(std::move(parts), place->directory, place->name, OpenMode::Write, "destroy",
                       options.run.lock_timeout, cancellation);
  if (run.status().code() == Code::NotFound) {  // another destroy, which this one has waited for
    if (!options.run.json) std::printf("Nothing to destroy: %s is gone already.\n", place->name.c_str());
    return kDone;
  }
  if (!run.ok()) return report(session, run.status());
  if (Status recovered = recover_left(**run); !recovered.ok()) return report(session, recovered);
  guard.reset();  // while a question is asked, Ctrl-C ends radlc
  return execute(session, options, std::move(*run), *place, cancellation);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("destroy", "Remove everything that apply created, and verify it");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project);
  add_run_options(*command, options->run);
  add_sudo_option(*command, options->run.ask_sudo_password);
  command
      ->add_option("-i,--input,--input-file", options->unused_inputs,
                   "taken as for apply, and not needed: what is destroyed is in the state")
      ->type_name("NAME=VALUE");
  command
      ->add_option("--target", options->targets,
                   "only this resource, or system's nodes, with what needs it; may be repeated")
      ->type_name("ADDRESS");
  return [options, &session] { return run_destroy(session, *options); };
}

}  // namespace radl::cli::destroy_command

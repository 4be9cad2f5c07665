#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/protection.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
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

int execute(const Session& session, const Options& options, Run run, const StatePlace& place,
            std::unique_ptr<Store> store) {
  auto snapshot = store->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto made = make_destroy_plan(*snapshot, {options.targets.begin(), options.targets.end()});
  if (!made.ok()) return report(session, made.status());
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
  auto sinks = make_sinks(session, options.run, plan);
  if (!sinks.ok()) return report(session, sinks.status());
  RunClock clock;
  run.sinks = sinks->all;
  run.sinks.push_back(&clock);
  Cancellation cancellation;
  run.cancellation = &cancellation;
  SignalGuard guard(cancellation);
  RunReport done = destroy(run, plan);
  RunFigures figures = figures_of(plan, done, clock);
  if (!plan.partial) figures.life_cost = cost_of_life(*snapshot, clock.ended());
  keep_figures(std::move(figures), place.directory);
  Status told = sinks->close();
  int code = report_run(session, done, options.run.json);
  int untold = told.ok() ? int(kDone) : report(session, told);
  if (code != kDone) return code;
  if (plan.partial) {
    if (!options.run.json)
      std::printf("Destroyed: %zu of %s; the rest stays.\n", done.done(), place.name.c_str());
    return untold;
  }
  store.reset();  // its lock is taken again by the removal, unless a run that waited for it is faster
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
  auto store =
      open_locked(place->directory, place->name, OpenMode::Write, "destroy", options.run.lock_timeout);
  if (store.status().code() == Code::NotFound) {  // another destroy, which this one has waited for
    if (!options.run.json) std::printf("Nothing to destroy: %s is gone already.\n", place->name.c_str());
    return kDone;
  }
  if (!store.ok()) return report(session, store.status());
  Cancellation cancellation;
  ir::Secrets no_secrets;
  Run run = (*machinery)->run();
  run.store = store->get();
  run.secrets = &no_secrets;
  run.cancellation = &cancellation;
  run.options.parallelism = options.run.parallelism;
  if (Status recovered = recover_left(run); !recovered.ok()) return report(session, recovered);
  return execute(session, options, run, *place, std::move(*store));
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("destroy", "Remove everything that apply created, and verify it");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project);
  add_run_options(*command, options->run);
  command
      ->add_option("--target", options->targets,
                   "only this resource, or system's nodes, with what needs it; may be repeated")
      ->type_name("ADDRESS");
  return [options, &session] { return run_destroy(session, *options); };
}

}  // namespace radl::cli::destroy_command

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "runtime/base/sudo_secret.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/from_cloud.h"
#include "runtime/cli/others.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/clouds/takes_over.h"
#include "runtime/driver/given_back.h"
#include "runtime/driver/project_state.h"
#include "runtime/driver/protection.h"
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
  std::vector<std::string> also;  // ids of what is not this state's, and is to go all the same
  std::string from_cloud;         // the tag of an infrastructure whose state was lost
};

// True: go on.
Result<bool> approved(const Session& session, const Options& options, const Plan& plan) {
  if ((!plan.changes_anything() && options.also.empty()) || options.run.auto_approve) return true;
  if (!session.terminal.can_ask) {
    return Status(Code::Invalid, "there is nobody to ask whether this may be destroyed")
        .with_hint("say --auto-approve");
  }
  return confirm("\nDestroy all of this? Only 'yes' is taken as yes:");
}

// What carries the tag and is not this state's: the plan shows it, and names what --also asks for as well.
Status add_others(const Options& options, ActiveRun& run, const Others& others, const Snapshot& snapshot,
                  Plan& plan) {
  std::set<std::string> also(options.also.begin(), options.also.end()), known;
  for (const Released& one : snapshot.released) known.insert(one.id);
  for (const Unowned& one : others.unowned) known.insert(one.id);
  note_others(others, also, plan);
  for (const Released& one : snapshot.released)
    if (also.count(one.id)) plan.notes.push_back("destroyed as well: " + one.address + " (" + one.id + ")");
  for (const std::string& id : also)
    if (!known.count(id))
      return not_found("--also " + id +
                       ": nothing that was seen with that id carries this infrastructure's tag");
  run.destroy_also(std::move(also));
  return {};
}

// Without what --also destroys: that keeps nothing any more.
Snapshot without(Snapshot snapshot, const std::vector<std::string>& also) {
  std::erase_if(snapshot.released, [&](const Released& one) {
    return std::find(also.begin(), also.end(), one.id) != also.end();
  });
  return snapshot;
}

// What goes on existing after a destroy, a line each. `stays`: the state is still needed for it. What uses
// the rest goes by --also, or by hand: the next destroy then removes that rest.
std::vector<std::string> what_goes_on(const Snapshot& after, const RunReport& done,
                                      const Machinery& machinery, bool& stays) {
  std::vector<std::string> lines;
  for (const Unowned& one : done.unowned) lines.push_back("left alone: " + one.text());
  for (const auto& [address, record] : after.resources)
    lines.push_back("still there: " + address + " (" + record.id + " in " + record.cloud +
                    "), which something uses that `radlc state rm` released");
  stays = !lines.empty();
  for (const Released& one : after.released) {
    lines.push_back("still there: " + one.address + " (" + one.id + " in " + one.cloud +
                    "), which `radlc state rm` released");
    const auto* marking = dynamic_cast<const TakesOver*>(machinery.clouds().find(one.cloud));
    stays |= marking && marking->is_in_work_directory();
  }
  return lines;
}

int execute(const Session& session, const Options& options, const Machinery& machinery,
            std::unique_ptr<ActiveRun> run, const StatePlace& place, Cancellation& cancellation) {
  Result<Others> others = Others();
  if (options.targets.empty()) {
    SignalGuard guard(cancellation);
    others = run->others();
    if (!others.ok()) return report(session, others.status());
  }
  auto snapshot = run->snapshot();
  if (!snapshot.ok()) return report(session, snapshot.status());
  auto made =
      make_destroy_plan(without(*snapshot, options.also), {options.targets.begin(), options.targets.end()});
  if (!made.ok()) return report(session, made.status());
  if (Status added = add_others(options, *run, *others, *snapshot, *made); !added.ok())
    return report(session, added);
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
  keep_figures_or_note(session.host, std::move(figures), place.directory);
  Status told = listeners.end(*run, cancellation.now());
  auto after = run->snapshot();
  end_run(*run);
  int code = report_run(session, done, options.run.json);
  int untold = told.ok() ? int(kDone) : report(session, told);
  if (code != kDone) return code;
  if (plan.partial) {
    if (!options.run.json)
      std::printf("Destroyed: %zu of %s; the rest stays.\n", done.done(), place.name.c_str());
    return untold;
  }
  if (!after.ok()) return report(session, after.status());
  bool stays = false;
  const std::vector<std::string> goes_on = what_goes_on(*after, done, machinery, stays);
  for (const std::string& line : goes_on) std::fprintf(stderr, "%s\n", shown(line).c_str());
  if (stays) {
    std::fprintf(stderr,
                 "`radlc destroy%s --also ID` destroys one of these as well; the state is kept for that\n",
                 project_words(options.project).c_str());
    if (!options.run.json)
      std::printf("Destroyed: %s, apart from what is named above.\n", place.name.c_str());
    return untold;
  }
  run.reset();  // its lock is taken again by the removal, unless a run that waited for it is faster
  Status removed = remove_state(place.directory, place.name, *session.host.world, cancellation.now());
  if (removed.code() == Code::Conflict) {
    std::fprintf(stderr, "note: the state is kept for another run: %s\n", shown(removed.message()).c_str());
    return untold;
  }
  if (!removed.ok() && removed.code() != Code::NotFound && removed.code() != Code::Lost)
    return report(session, removed);
  // A list that cannot be written is no error: `radlc list` says then that there is none.
  (void)forget_state(session.host.infrastructures_index(), {place.directory, place.name});
  if (!options.run.json) {
    std::printf("Destroyed: %s. %s\n", place.name.c_str(),
                goes_on.empty() ? "Nothing is left." : "What is named above goes on existing.");
    for (const std::string& kept : bucket_places(*snapshot))
      std::printf("Models and checkpoints in %s stay.\n", shown(kept).c_str());
  }
  return untold;
}

int run_destroy(const Session& session, const Options& options) {
  if (!options.from_cloud.empty()) return destroy_from_cloud(session, options.from_cloud, options.run);
  if (!options.unused_inputs.empty())
    std::fputs("note: destroy removes what the state has; inputs change nothing in that\n", stderr);
  auto directory = state_directory(session.host, options.project);
  if (!directory.ok()) return report(session, directory.status());
  if (Status swept = sweep_unmade_states(*directory); !swept.ok()) return report(session, swept);
  auto place = find_state(session.host, options.project);
  if (!place.ok()) {
    // Destroying what is not there is what was wanted, but a wrong folder should be noticed.
    if (place.status().code() == Code::NotFound && options.project.name.empty()) {
      std::printf("Nothing to destroy: %s.\n", place.status().message().c_str());
      return kDone;
    }
    return report(session, place.status());
  }
  auto machinery = make_machinery(session.host, options.run);
  if (!machinery.ok()) return report(session, machinery.status());
  Cancellation cancellation;
  ir::Secrets secrets;  // of the file it needs none: what it removes is in the state
  auto password = given_sudo_password(session, options.run.ask_sudo_password);
  if (!password.ok()) return report(session, password.status());
  if (!password->empty()) secrets[kSudoSecret] = *password;
  Run parts = (*machinery)->run();
  parts.secrets = &secrets;
  auto guard = std::make_unique<SignalGuard>(cancellation);
  auto run = begin_run(session, std::move(parts), place->directory, place->name, OpenMode::Write, "destroy",
                       options.run.lock_timeout, cancellation);
  if (run.status().code() == Code::NotFound) {  // another destroy, which this one has waited for
    if (!options.run.json) std::printf("Nothing to destroy: %s is gone already.\n", place->name.c_str());
    return kDone;
  }
  if (!run.ok()) return report(session, run.status());
  if (Status recovered = recover_left(**run, tell_on_stderr()); !recovered.ok())
    return report(session, recovered);
  guard.reset();  // while a question is asked, Ctrl-C ends radlc
  return execute(session, options, **machinery, std::move(*run), *place, cancellation);
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
  command
      ->add_option("--also", options->also,
                   "destroy this as well: something that carries the infrastructure's tag without being this "
                   "state's, or that `radlc state rm` released; may be repeated")
      ->type_name("ID");
  command
      ->add_option("--from-cloud", options->from_cloud,
                   "destroy all that carries this infrastructure's tag (NAME-LINEAGE), of which there is no "
                   "state any more; --cloud says where")
      ->type_name("TAG")
      ->excludes("--also")
      ->excludes("--target");
  return [options, &session] { return run_destroy(session, *options); };
}

}  // namespace radl::cli::destroy_command

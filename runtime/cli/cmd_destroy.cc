#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/destroy.h"
#include "runtime/cli/from_cloud.h"
#include "runtime/cli/project.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/sudo.h"
#include "runtime/cli/terminal.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/destroy.h"
#include "runtime/plan/render.h"

namespace radl::cli::destroy_command {
namespace {

// True: go on.
Result<bool> approved(const Session& session, const Options& options, const Destroy& destroy) {
  if (!destroy.changes_anything() || options.run.auto_approve) return true;
  const std::string jobs = fmt::format("{}", fmt::join(destroy.ended_jobs(), ", "));
  if (!session.terminal.can_ask) {
    const std::string runs = jobs.empty() ? "" : "destroy would end running jobs (" + jobs + "): ";
    return Status(Code::Invalid, runs + kCannotConfirm).with_hint("pass --auto-approve");
  }
  if (!jobs.empty()) std::fprintf(stderr, "\nStill running: %s\n", shown(jobs).c_str());
  return confirm(jobs.empty() ? "\nDestroy all of this? Only 'yes' is accepted:"
                              : "End these jobs and destroy all of this? Only 'yes' is accepted:");
}

void show(const Session& session, const Plan& plan) {
  const PlanTextOptions look = plan_look(session);
  std::fputs(shown(render_text(plan, look), look.color).c_str(), stdout);
  std::fflush(stdout);
}

void report_left(const Options& options, const std::string& name, const DestroyLeft& left) {
  for (const std::string& line : left.exists) std::fprintf(stderr, "%s\n", shown(line).c_str());
  if (left.state_kept) {
    std::fprintf(stderr,
                 "`radlc destroy%s --also ID` destroys one of these as well; the state is kept for that\n",
                 project_words(options.project).c_str());
    if (!options.run.json) std::printf("Destroyed: %s, except the resources listed above.\n", name.c_str());
    return;
  }
  if (!left.kept_for_another.ok()) {
    std::fprintf(stderr, "note: the state is kept for another run: %s\n",
                 shown(left.kept_for_another.message()).c_str());
    return;
  }
  if (options.run.json) return;
  std::printf("Destroyed: %s. %s\n", name.c_str(),
              left.exists.empty() ? "Nothing is left." : "The resources listed above still exist.");
  for (const std::string& kept : left.buckets)
    std::printf("Models and checkpoints in %s stay.\n", shown(kept).c_str());
}

int execute(const Session& session, const Options& options, Cancellation& cancellation, Destroy& destroy) {
  SignalGuard guard(cancellation);
  Listeners listeners;
  if (Status begun = listeners.begin(destroy.run(), session, options.run, destroy.plan()); !begun.ok())
    return report(session, begun);
  const Destroyed done = destroy.execute();
  note_unkept_figures(done.figures_kept);
  Status told = listeners.end(destroy.run(), cancellation.now());
  end_run(destroy.run());
  const int code = report_run(session, done.report, options.run.json);
  const int untold = told.ok() ? int(kDone) : report(session, told);
  if (code != kDone) return code;
  const std::string& name = destroy.place().name;
  if (destroy.plan().partial) {
    if (!options.run.json)
      std::printf("Destroyed: %zu of %s; the rest stays.\n", done.report.done(), name.c_str());
    return untold;
  }
  auto left = destroy.finish();
  if (!left.ok()) return report(session, left.status());
  report_left(options, name, *left);
  return untold;
}

int nothing_to_destroy(const std::string& why) {
  std::printf("Nothing to destroy: %s.\n", why.c_str());
  return kDone;
}

// Opens the state: with its lock, and what an interrupted run left looked up.
Status begin(const Session& session, const Options& options, Cancellation& cancellation, Destroy& destroy) {
  auto password = given_sudo_password(session, options.run.ask_sudo_password);
  if (!password.ok()) return std::move(password).status();
  SignalGuard guard(cancellation);  // while a question is asked, Ctrl-C ends radlc
  Status begun = destroy.begin(*password);
  if (was_moved(session, begun, destroy.place().directory, destroy.place().name))
    begun = destroy.begin(*password);
  return begun;
}

}  // namespace

int run(const Session& session, const Options& options) {
  if (!options.from_cloud.empty()) return destroy_from_cloud(session, options.from_cloud, options.run);
  Cancellation cancellation;
  Destroy destroy(session.host,
                  {options.project, options.run, options.targets, options.also, options.run.lock_timeout},
                  cancellation, tell_on_stderr());
  if (Status found = destroy.find(); !found.ok()) {
    // A missing infrastructure is what was requested, but a wrong folder should be noticed.
    const bool nothing = found.code() == Code::NotFound && options.project.name.empty();
    return nothing ? nothing_to_destroy(found.message()) : report(session, found);
  }
  if (Status made = destroy.make_machinery(); !made.ok()) return report(session, made);
  if (Status begun = begin(session, options, cancellation, destroy); !begun.ok()) {
    if (begun.code() != Code::NotFound || destroy.is_open()) return report(session, begun);
    // Another destroy, which this one has waited for.
    return options.run.json ? int(kDone) : nothing_to_destroy(destroy.place().name + " is gone already");
  }
  Status planned;
  {
    SignalGuard guard(cancellation);
    planned = destroy.make_plan();
  }
  if (!planned.ok()) return report(session, planned);
  if (!options.run.json) show(session, destroy.plan());
  auto go = approved(session, options, destroy);
  if (!go.ok()) return report(session, go.status());
  if (!*go) {
    std::fputs("Nothing was destroyed.\n", stdout);
    return kUserError;
  }
  return execute(session, options, cancellation, destroy);
}

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("destroy", "Remove everything that apply created, and verify it");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project);
  add_run_options(*command, options->run);
  add_sudo_option(*command, options->run.ask_sudo_password);
  command
      ->add_option("-i,--input,--input-file", options->unused_inputs,
                   "accepted as for apply, but ignored: the state lists what to destroy")
      ->type_name("NAME=VALUE");
  command
      ->add_option("--target", options->targets,
                   "only this resource or the nodes of this system, with their dependents; may be repeated")
      ->type_name("ADDRESS");
  command
      ->add_option("--also", options->also,
                   "also destroy this resource, which has the infrastructure's tag but is not in the state, "
                   "or which `radlc state rm` released; may be repeated")
      ->type_name("ID");
  command
      ->add_option("--from-cloud", options->from_cloud,
                   "destroy everything with the tag of this infrastructure (NAME-LINEAGE), whose state is "
                   "lost; --cloud selects the cloud")
      ->type_name("TAG")
      ->excludes("--also")
      ->excludes("--target");
  return [options, &session] {
    if (!options->unused_inputs.empty())
      std::fputs("note: destroy ignores inputs: the state lists what to destroy\n", stderr);
    if (session.server.empty()) return run(session, *options);
    ServiceRequest request{.project = options->project, .run = options->run, .destroy = true};
    request.plan.targets = options->targets;
    return run_on_service(session, request);
  };
}

}  // namespace radl::cli::destroy_command

#include <CLI/CLI.hpp>

#include "runtime/cli/apply.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/autoscale.h"

namespace radl::cli::autoscale_command {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{300};
constexpr double kLockTimeout = 3600;

int work(const Session& session, const apply_command::Options& options, Autoscale& autoscale) {
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  while (stop.sleep(kBetweenLooks)) {
    autoscale.look(stop);
    for (const AutoscaleStep& step : autoscale.steps()) {
      apply_command::Options scaling = options;
      scaling.scale = step.scale;
      const int done = apply_command::run(session, scaling);
      autoscale.done(step, done == kDone);
      if (done == kInterrupted) return kInterrupted;
    }
  }
  return kInterrupted;
}

int run_autoscale(const Session& session, apply_command::Options& options) {
  options.run.auto_approve = true;
  if (options.run.lock_timeout == 0) options.run.lock_timeout = kLockTimeout;
  auto project = load_project(session, options.project);
  if (!project.ok()) return report(session, project.status());
  // Reports an unknown cloud before anything is watched.
  auto machinery = make_machinery(session.host, options.run);
  if (!machinery.ok()) return report(session, machinery.status());
  Autoscale autoscale(**project, options.project, tell_on_stderr());
  if (Status ready = autoscale.begin(); !ready.ok()) return report(session, ready);
  return work(session, options, autoscale);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("autoscale", "Scale elastic systems as their schedulers request, until Ctrl-C");
  auto options = std::make_shared<apply_command::Options>();
  add_project_options(*command, options->project);
  add_run_options(*command, options->run);
  add_max_cost_option(*command, options->request);
  return [options, &session] { return run_autoscale(session, *options); };
}

}  // namespace radl::cli::autoscale_command

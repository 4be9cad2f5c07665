// Waits for a training or program: follows its supervisor, or becomes it.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "runtime/cli/apply.h"
#include "runtime/cli/event_lines.h"
#include "runtime/cli/mirrored.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/jobs.h"
#include "runtime/driver/project_state.h"
#include "runtime/run/subscription.h"

namespace radl::cli::wait_command {
namespace {

struct Options {
  apply_command::Options apply;
  std::vector<std::string> words;  // FILE..., JOB
};

constexpr double kAsLongAsItTakes = 365.0 * 24 * 3600;  // seconds
constexpr std::chrono::milliseconds kAskEvery{1000};

struct Job {
  std::string id;
  StepStatus status = StepStatus::Done;
  std::string error, supervisor;
  std::string runs;  // the folder of events
  driver::StatePlace place;
  int exit = 0;  // the program's own exit status; 0 of a training
};

Result<Job> find_job(const Session& session, const Options& options, const Stop& stop) {
  auto place = find_state(session.host, options.apply.project, stop);
  if (!place.ok()) return std::move(place).status();
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *session.host.world, stop);
  if (!store.ok()) return std::move(store).status();
  auto state = (*store)->snapshot();
  if (!state.ok()) return std::move(state).status();
  auto record = job_called(*state, options.words.empty() ? "" : options.words.front());
  if (!record.ok()) return std::move(record).status();
  Job job{(*record)->id, (*record)->status, (*record)->error, "", (*store)->run_directory(), *place};
  if (const Json& output = (*record)->output; output.is_object()) job.exit = output.value("exit_status", 0);
  if (auto by = state->supervised.find(job.id); by != state->supervised.end()) job.supervisor = by->second;
  return job;
}

// Until it has no supervisor any more.
Result<Job> follow(const Session& session, const Options& options, Job job, const Stop& stop) {
  std::fprintf(stderr, "%s runs, supervised by another run: %s\n", shown(job.id).c_str(),
               shown(job.supervisor).c_str());
  const auto mirror = mirror_or_note(session, job.place, job.runs, stop);
  auto events = RunSubscription::open(job.runs, {});
  if (!events.ok()) return std::move(events).status();
  EventLines lines(Plan(), session.terminal.color, true);
  while (true) {
    const Stop turn = stop.within(kAskEvery);
    while (!turn.asked()) {
      auto event = (*events)->wait(turn);
      if (!event.ok()) continue;  // a line that is none is passed over
      if (!*event) break;
      const std::string line = options.apply.run.json ? to_json(**event).dump() : lines.line(**event);
      if (!line.empty()) std::printf("%s\n", line.c_str());
    }
    std::fflush(stdout);
    if (stop.asked()) return Status(Code::Cancelled, "stopped waiting; " + job.id + " runs on");
    auto now = find_job(session, options, stop);
    if (!now.ok() || now->supervisor.empty()) return now;
  }
}

// Like a shell's: the exit status of a program that ended on its own.
int exit_status(const Job& job) {
  if (job.exit != 0 || job.status == StepStatus::Done) return job.exit;
  return kWorldError;
}

int report_end(const Session& session, const Job& job) {
  if (job.status == StepStatus::Done)
    std::printf("%s is done.\n", shown(job.id).c_str());
  else
    (void)report(session, Status(Code::Lost, job.id + " failed: " + job.error));
  return exit_status(job);
}

// Follows the job, or supervises it if no process does. nullopt: another run became its supervisor first.
std::optional<int> follow_or_supervise(const Session& session, const Options& options) {
  Cancellation cancellation;
  Result<Job> job = internal_error("not asked");
  {
    SignalGuard guard(cancellation);
    job = find_job(session, options, cancellation.finishing());
    if (job.ok() && !job->supervisor.empty())
      job = follow(session, options, std::move(*job), cancellation.finishing());
  }
  if (!job.ok()) return report(session, job.status());
  if (!has_not_ended(job->status)) return report_end(session, *job);
  // It has no supervisor: this process becomes it.
  apply_command::Options joining = options.apply;
  joining.job = job->id;
  joining.request.targets = {job->id};
  joining.run.lock_timeout = kAsLongAsItTakes;
  const int done = apply_command::run(session, joining);
  if (done != kDone && done != kWorldError) return done;
  job = find_job(session, options, {});
  if (!job.ok()) return report(session, job.status());
  if (done == kDone && !job->supervisor.empty()) return std::nullopt;
  if (done == kDone || job->status == StepStatus::Failed) return exit_status(*job);
  return done;
}

int run_wait(const Session& session, Options& options) {
  take_files(options.words, options.apply.project);
  if (options.words.size() > 1) return report(session, invalid("one job at a time: " + options.words.back()));
  if (!session.server.empty() && !options.words.empty())
    return report(session, invalid("JOB of radlc wait is not supported with --server: a service waits for "
                                   "whole runs"));
  if (!session.server.empty())
    return wait_on_service(session, {.project = options.apply.project, .run = options.apply.run});
  while (true) {
    if (auto done = follow_or_supervise(session, options)) return *done;
  }
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("wait", "Wait for a training or a program, and fetch its results");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->apply.project, &options->words);
  command->add_option("JOB", "for example 'program/solve' or 'solve' (default: the only one)");
  add_cloud_option(*command, options->apply.run);
  command->add_flag("--json", options->apply.run.json, "events as JSON lines on standard output");
  return [options, &session] { return run_wait(session, *options); };
}

}  // namespace radl::cli::wait_command

// Ends a running training, program or Slurm job: requests its end first, and kills it after the grace
// period.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/slurm_head.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/jobs.h"
#include "runtime/driver/project_state.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/for_all.h"

namespace radl::cli::cancel_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., JOB
};

// Like driver::job_called; if there is a Slurm, the error also mentions its jobs.
Result<const StepRecord*> job_called(const Snapshot& state, const std::vector<std::string>& words) {
  if (!jobs_of(state).empty() || !slurm_head(state))
    return driver::job_called(state, words.empty() ? "" : words[0]);
  return words.empty() ? invalid("name a job: `radlc queue` shows the jobs of Slurm")
                       : not_found("no job " + words[0] + " in " + state.name);
}

// Ends it where it runs, or may; `ended` gets the names of folders and nodes that are known to run nothing
// now.
using EndedNodes = std::map<std::string, std::set<std::string>>;  // by folder

Result<size_t> end_all(std::vector<JobView>& views, const Stop& stop, EndedNodes& ended) {
  std::vector<std::pair<const JobFolder*, JobNode*>> running;
  for (JobView& view : views) {
    for (const auto& node : view.nodes) {
      if (!node->status.ok())
        std::fprintf(stderr, "%s\n", shown(node->status.text()).c_str());
      else if (node->runs())
        running.emplace_back(&view.folder, node.get());
      else
        ended[view.folder.name].insert(node->handle.address);
    }
  }
  std::mutex mutex;
  Status done = jobs::for_all(running.size(), [&](size_t i) -> Status {
    const auto& [folder, node] = running[i];
    const jobs::Manner manner{
        folder->signal, std::chrono::milliseconds(static_cast<long long>(folder->grace_seconds * 1000))};
    if (auto one = jobs::end_job(*node->member, manner, stop); !one.ok()) return one.status();
    std::lock_guard lock(mutex);
    ended[folder->name].insert(node->handle.address);
    return {};
  });
  return done.ok() ? Result<size_t>(running.size()) : done;
}

// Records that it no longer runs. An apply that supervises it notices the end itself; otherwise `was_running`
// turns it into a failure, so that `wait` does not start it again.
void note_ended(const Session& session, const Options& options, const std::string& id,
                const EndedNodes& ended, bool was_running) {
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return;
  auto store = open_locked(session, place->directory, place->name, OpenMode::Write, "cancel", 0);
  if (!store.ok()) return;
  auto snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return;
  auto record = snapshot->steps.find(id);
  if (record == snapshot->steps.end()) return;
  const std::vector<JobFolder> before = record->second.jobs;
  for (JobFolder& folder : record->second.jobs) {
    if (auto nodes = ended.find(folder.name); nodes != ended.end())
      std::erase_if(folder.may_run, [&](const std::string& node) { return nodes->second.contains(node); });
  }
  const bool over = was_running && has_not_ended(record->second.status) && !snapshot->supervised.contains(id);
  if (over) {
    record->second.status = StepStatus::Failed;
    record->second.error = "was cancelled by `radlc cancel`";
  }
  if (over || record->second.jobs != before) (void)(*store)->commit({state_change::PutStep{record->second}});
}

constexpr std::chrono::milliseconds kBetweenLooks{300};

// Ends a job of Slurm, or one task of an array, and waits until nothing of it runs.
Status cancel_slurm(Remote& head, const std::string& job, const Stop& stop) {
  auto before = slurm_queue(head, job, stop);
  if (!before.ok()) return std::move(before).status();
  if (before->empty())
    return not_found("Slurm has no job " + job).with_hint("it forgets jobs some minutes after their end");
  auto over = [](const QueuedTask& task) { return task.ended(); };
  if (std::all_of(before->begin(), before->end(), over)) return invalid(kSlurmJobs + job + " does not run");
  if (auto ended = output_of(head, "scancel " + job, "", stop); !ended.ok()) return ended.status();
  while (true) {
    auto now = slurm_queue(head, job, stop);
    if (!now.ok()) return std::move(now).status();
    if (std::all_of(now->begin(), now->end(), over)) return {};
    if (!stop.sleep(kBetweenLooks)) return Status(Code::Cancelled, kSlurmJobs + job + " is still ending");
  }
}

// The job of Slurm that the words name: "slurm/12", or "12". Empty: they name none.
std::string slurm_job_called(const std::vector<std::string>& words) {
  if (words.empty()) return "";
  const std::string& word = words[0];
  const std::string job = word.starts_with(kSlurmJobs) ? word.substr(std::strlen(kSlurmJobs)) : word;
  return is_slurm_job(job) ? job : "";
}

int run_slurm(const Session& session, const Nodes& nodes, const ResourceRecord& head, const std::string& job,
              const Stop& stop) {
  auto remote = connect_to(nodes, head);
  if (!remote.ok()) return report(session, remote.status());
  if (Status done = cancel_slurm(**remote, job, stop); !done.ok()) return report(session, done);
  std::printf("%s%s is cancelled.\n", kSlurmJobs, job.c_str());
  return kDone;
}

int run_cancel(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() > 1) return report(session, invalid("one job at a time: " + options.words.back()));
  if (!session.server.empty())
    return cancel_on_service(
        session, {.project = options.project, .word = options.words.empty() ? "" : options.words.front()});
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  auto nodes = load_nodes(session.host, options.project, stop);
  if (!nodes.ok()) return report(session, nodes.status());
  auto job = job_called(nodes->state, options.words);
  const ResourceRecord* head = slurm_head(nodes->state);
  if (const std::string called = slurm_job_called(options.words); head && !job.ok() && !called.empty())
    return run_slurm(session, *nodes, *head, called, stop);
  if (!job.ok()) return report(session, job.status());
  auto views = look_at_job(*nodes, **job, stop);
  if (Status stopped = stop.check(); !stopped.ok()) return report(session, stopped);
  EndedNodes ended;
  auto count = end_all(views, stop, ended);
  if (!count.ok()) return report(session, count.status());
  note_ended(session, options, (*job)->id, ended, !views.empty() && views.front().runs());
  if (*count == 0) return report(session, invalid((*job)->id + " does not run"));
  std::printf("%s is cancelled on %zu node%s.\n", shown((*job)->id).c_str(), *count, *count == 1 ? "" : "s");
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("cancel", "End a running training, program or Slurm job");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option(
      "JOB", "for example 'program/solve', 'solve', or 'slurm/12' (default: the only training or program)");
  return [options, &session] { return run_cancel(session, *options); };
}

}  // namespace radl::cli::cancel_command

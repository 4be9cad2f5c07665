#include "runtime/driver/job_cancel.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include "runtime/driver/jobs.h"
#include "runtime/driver/project_state.h"
#include "runtime/driver/slurm_head.h"
#include "runtime/driver/states.h"
#include "runtime/steps/jobs/ending.h"
#include "runtime/steps/jobs/for_all.h"

namespace radl::driver {
namespace {

// Like job_called(); if there is a Slurm, the error also mentions its jobs.
Result<const StepRecord*> job_to_cancel(const Snapshot& state, const std::string& word) {
  if (!jobs_of(state).empty() || !slurm_head(state)) return job_called(state, word);
  return word.empty() ? invalid("name a job: `radlc queue` shows the jobs of Slurm")
                      : not_found("no job " + word + " in " + state.name);
}

// Ends it where it runs, or may; `ended` gets the names of folders and nodes that are known to run nothing
// now.
using EndedNodes = std::map<std::string, std::set<std::string>>;  // by folder

Result<size_t> end_all(std::vector<JobView>& views, const Stop& stop, EndedNodes& ended, const Tell& tell) {
  std::vector<std::pair<const JobFolder*, JobNode*>> running;
  for (JobView& view : views) {
    for (const auto& node : view.nodes) {
      if (!node->status.ok())
        tell({Notice::Kind::Progress, node->status.text()});
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
void note_ended(const Host& host, const ProjectOptions& project, const std::string& id,
                const EndedNodes& ended, bool was_running, const Tell& tell) {
  auto place = find_state(host, project);
  if (!place.ok()) return;
  auto store = open_locked(host, place->directory, place->name, OpenMode::Write, "cancel", 0, tell);
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

constexpr std::chrono::milliseconds kBetweenSlurmLooks{300};

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
    if (!stop.sleep(kBetweenSlurmLooks))
      return Status(Code::Cancelled, kSlurmJobs + job + " is still ending");
  }
}

// The job of Slurm that the word names: "slurm/12", or "12". Empty: it names none.
std::string slurm_job_called(const std::string& word) {
  const std::string job = word.starts_with(kSlurmJobs) ? word.substr(std::strlen(kSlurmJobs)) : word;
  return is_slurm_job(job) ? job : "";
}

}  // namespace

Result<CancelledJob> cancel_job(const Host& host, const ProjectOptions& project, const std::string& word,
                                const Stop& stop, const Tell& tell) {
  auto nodes = load_nodes(host, project, stop);
  if (!nodes.ok()) return nodes.status();
  auto job = job_to_cancel(nodes->state, word);
  const ResourceRecord* head = slurm_head(nodes->state);
  if (const std::string called = slurm_job_called(word); head && !job.ok() && !called.empty()) {
    auto remote = connect_to(*nodes, *head);
    if (!remote.ok()) return remote.status();
    if (Status done = cancel_slurm(**remote, called, stop); !done.ok()) return done;
    return CancelledJob{kSlurmJobs + called, std::nullopt};
  }
  if (!job.ok()) return job.status();
  auto views = look_at_job(*nodes, **job, stop);
  if (Status stopped = stop.check(); !stopped.ok()) return stopped;
  EndedNodes ended;
  auto count = end_all(views, stop, ended, tell);
  if (!count.ok()) return count.status();
  note_ended(host, project, (*job)->id, ended, !views.empty() && views.front().runs(), tell);
  if (*count == 0) return invalid((*job)->id + " does not run");
  return CancelledJob{(*job)->id, *count};
}

}  // namespace radl::driver

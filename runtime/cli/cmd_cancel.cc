// Ends a training or program that runs: it is asked first, and killed when its time is over.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>

#include "runtime/cli/node_commands.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
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

// By its step's id or the name behind it; the only one where none is named.
Result<const StepRecord*> job_called(const Snapshot& state, const std::vector<std::string>& words) {
  const std::vector<const StepRecord*> all = jobs_of(state);
  std::string list;
  const StepRecord* found = nullptr;
  for (const StepRecord* job : all) {
    list += (list.empty() ? "" : ", ") + job->id;
    const bool named = !words.empty() && (job->id == words[0] || job->id.ends_with("/" + words[0]));
    if (!named && !(words.empty() && all.size() == 1)) continue;
    if (found) return invalid("several are called so: " + found->id + ", " + job->id);
    found = job;
  }
  if (found) return found;
  if (all.empty()) return not_found(state.name + " has no trainings and no programs");
  return words.empty() ? Result<const StepRecord*>(invalid("which one? There are: " + list))
                       : not_found("no job " + words[0] + " in " + state.name + "; there are: " + list);
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

// The state no longer says that it may run there. An apply that holds the state sees the end by itself.
void note_ended(const Session& session, const Options& options, const std::string& id,
                const EndedNodes& ended) {
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
  if (record->second.jobs != before) (void)(*store)->commit({state_change::PutStep{record->second}});
}

int run_cancel(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() > 1) return report(session, invalid("one job at a time: " + options.words.back()));
  auto nodes = load_nodes(session.host, options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto job = job_called(nodes->state, options.words);
  if (!job.ok()) return report(session, job.status());
  auto views = look_at_job(*nodes, **job);
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  EndedNodes ended;
  auto count = end_all(views, Stop::when([&] { return cancellation.stop_starting(); }), ended);
  if (!count.ok()) return report(session, count.status());
  note_ended(session, options, (*job)->id, ended);
  if (*count == 0) return report(session, invalid((*job)->id + " does not run"));
  std::printf("%s is cancelled on %zu node%s.\n", shown((*job)->id).c_str(), *count, *count == 1 ? "" : "s");
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("cancel", "End a training or program that runs");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("JOB", "for example 'program/solve' or 'solve' (default: the only one)");
  return [options, &session] { return run_cancel(session, *options); };
}

}  // namespace radl::cli::cancel_command

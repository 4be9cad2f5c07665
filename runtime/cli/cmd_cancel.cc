// Ends a training or program that runs: it is asked first, and killed when its time is over.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "runtime/cli/jobs.h"
#include "runtime/cli/project.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
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

// How the job wants to be ended; a training writes its checkpoint within the time that radlc gives it, too.
struct Manner {
  std::string signal = "TERM";
  double grace = 20;
};

Status end(JobNode& node, const Manner& manner, const Cancellation& cancellation) {
  std::vector<std::string> names;
  for (const auto& [name, state] : node.look.processes) names.push_back(name);
  // First, so that whoever follows it does not start it again.
  Status asked = node.member->put_bytes("", "cancelled", {}, 0600);
  if (asked.ok()) asked = node.member->signal(names, manner.signal.c_str());
  if (!asked.ok()) return asked;
  const Stop stop = Stop::when([&] {
                      return cancellation.stop_starting();
                    }).within(std::chrono::milliseconds(static_cast<long long>(manner.grace * 1000)));
  while (stop.sleep(std::chrono::milliseconds(300))) {
    auto look = node.member->look();
    if (!look.ok()) return std::move(look).status();
    node.look = std::move(*look);
    if (!node.runs()) break;
  }
  return node.member->signal(names, "KILL");
}

int run_cancel(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() > 1) return report(session, invalid("one job at a time: " + options.words.back()));
  auto nodes = load_nodes(options.project);
  if (!nodes.ok()) return report(session, nodes.status());
  auto job = job_called(nodes->state, options.words);
  if (!job.ok()) return report(session, job.status());
  auto members = look_at_job(*nodes, **job);
  Manner manner;
  if ((*job)->definition && (*job)->kind == "program") {
    const Json program = (*job)->definition->value("program", Json::object());
    manner = {program.value("stop_signal", manner.signal), program.value("grace_seconds", manner.grace)};
  }
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  std::vector<size_t> running;
  for (size_t i = 0; i < members.size(); ++i) {
    if (!members[i]->status.ok())
      std::fprintf(stderr, "%s\n", shown(members[i]->status.text()).c_str());
    else if (members[i]->runs())
      running.push_back(i);
  }
  if (running.empty()) return report(session, invalid((*job)->id + " does not run"));
  Status ended = jobs::for_all(running.size(),
                               [&](size_t i) { return end(*members[running[i]], manner, cancellation); });
  if (!ended.ok()) return report(session, ended);
  std::printf("%s is cancelled on %zu node%s.\n", shown((*job)->id).c_str(), running.size(),
              running.size() == 1 ? "" : "s");
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

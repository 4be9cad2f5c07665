#include <sys/stat.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/event_lines.h"
#include "runtime/cli/mirrored.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/jobs.h"
#include "runtime/driver/logs.h"
#include "runtime/driver/project_state.h"
#include "runtime/run/subscription.h"

namespace radl::cli::logs_command {
namespace {

namespace fs = std::filesystem;

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., NODE
  std::string node;
  bool follow = false;
  int lines = 0;
};

struct ShownLog : LogFile {
  std::streamoff shown = 0;
  unsigned long long file = 0;  // which file that was
};

std::vector<ShownLog> shown_logs(const std::string& directory, const LogFilter& filter) {
  std::vector<ShownLog> logs;
  for (LogFile& one : log_files(directory, filter)) logs.push_back({std::move(one)});
  return logs;
}

// A step that runs again, or a program that rotates logs, begins a new file under the same name.
void begin_again_if_new(ShownLog& log) {
  struct stat info {};
  if (::stat(log.path.c_str(), &info) != 0) return;
  if (info.st_ino != log.file || info.st_size < log.shown) log.shown = 0;
  log.file = info.st_ino;
}

// Prints new lines since the last call, each after its log's name. False: nothing new.
bool print_new(ShownLog& log, int last_lines, bool color) {
  begin_again_if_new(log);
  std::ifstream in(log.path, std::ios::binary);
  if (!in) return false;
  in.seekg(log.shown);
  std::vector<std::string> lines;
  std::string line;
  while (std::getline(in, line)) {
    if (in.eof()) break;  // no newline yet: shown when it is whole
    lines.push_back(line);
    log.shown += static_cast<std::streamoff>(line.size()) + 1;
  }
  size_t first = last_lines > 0 && lines.size() > static_cast<size_t>(last_lines)
                     ? lines.size() - static_cast<size_t>(last_lines)
                     : 0;
  for (size_t i = first; i < lines.size(); ++i)
    std::printf("%s | %s\n", shown(log.label).c_str(), shown(lines[i], color).c_str());
  return !lines.empty();
}

// Prints the events of active runs, and of runs that begin later.
class RunPrinter {
 public:
  RunPrinter(std::unique_ptr<RunSubscription> events, bool color)
      : events_(std::move(events)), color_(color) {}

  void print_new() {
    while (true) {
      auto event = events_->next();
      if (!event.ok()) continue;  // a line that is none is passed over
      if (!*event) return;
      auto lines = lines_.try_emplace((*event)->run, Plan(), color_, true).first;
      const std::string line = lines->second.line(**event);
      if (!line.empty()) std::printf("run | %s\n", line.c_str());
      if ((*event)->kind == EventKind::RunFinished) lines_.erase(lines);
    }
  }

 private:
  std::unique_ptr<RunSubscription> events_;
  const bool color_;
  std::map<std::string, EventLines> lines_;  // by run
};

void follow_logs(const Store& store, const LogFilter& wanted, std::vector<ShownLog> known, bool color) {
  const std::string directory = store.log_directory();
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  std::optional<RunPrinter> run;
  if (wanted.name.empty()) {
    if (auto events = RunSubscription::open(store.run_directory(), {}); events.ok())
      run.emplace(std::move(*events), color);
  }
  while (!cancellation.stop_starting()) {
    if (run) run->print_new();
    for (ShownLog& found : shown_logs(directory, wanted)) {
      bool is_known = std::any_of(known.begin(), known.end(),
                                  [&](const ShownLog& log) { return log.path == found.path; });
      if (!is_known) known.push_back(found);
    }
    for (ShownLog& log : known) print_new(log, 0, color);
    std::fflush(stdout);
    cancellation.finishing().sleep(std::chrono::milliseconds(200));
  }
}

// Why there is nothing to print, and what there is.
Status no_logs(const std::string& directory, const LogFilter& wanted, const Snapshot& state) {
  std::string others;
  for (const LogFile& log : log_files(directory, {})) others += (others.empty() ? "" : ", ") + log.label;
  if (others.empty()) return not_found("no logs in " + directory + ": no step or training has run yet");
  const bool is_node = state.resources.count(wanted.name) != 0;
  return not_found(is_node ? "no step or training has run on " + wanted.name
                           : "no logs of '" + wanted.name + "'")
      .with_hint("available: " + others);
}

// True if a run is active, which may still produce the requested data.
bool run_goes_on(const Store& store) {
  auto runs = kept_runs(store.run_directory());
  return runs.ok() && std::any_of(runs->begin(), runs->end(),
                                  [](const KeptRun& run) { return run.state == KeptRun::State::Going; });
}

// What has not run yet may be followed; a name that nothing has, and no run can bring, is a mistake.
bool may_come(const Store& store, const LogFilter& wanted, const Snapshot& state) {
  const std::string& name = wanted.name;
  if (name.empty() || state.resources.count(name) != 0 || state.steps.count(name) != 0) return true;
  const bool is_system = std::any_of(state.resources.begin(), state.resources.end(),
                                     [&](const auto& one) { return one.second.system == name; });
  return is_system || run_goes_on(store);
}

// Notes jobs without a supervisor: no further output of theirs arrives here.
void note_unsupervised(const Snapshot& state, const LogFilter& wanted) {
  for (const StepRecord* job : jobs_of(state)) {
    if (!has_not_ended(job->status) || state.supervised.count(job->id) || !state.at_work.empty()) continue;
    if (!wanted.name.empty() && !wanted.has(log_label(job->id))) continue;
    std::fprintf(stderr, "note: no radlc follows %s; run `radlc wait %s`\n", shown(job->id).c_str(),
                 shown(job->id).c_str());
  }
}

int run_logs(const Session& session, const Options& options) {
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *session.host.world);
  if (!store.ok()) return report(session, store.status());
  auto state = (*store)->snapshot();
  if (!state.ok()) return report(session, state.status());
  const std::string directory = (*store)->log_directory();
  const LogFilter wanted = log_filter(options.node, *state);
  std::vector<ShownLog> files = shown_logs(directory, wanted);
  if (files.empty() && !(options.follow && may_come(**store, wanted, *state)))
    return report(session, no_logs(directory, wanted, *state));
  const bool color = session.terminal.color;
  for (ShownLog& log : files) print_new(log, options.lines, color);
  if (options.follow) {
    note_unsupervised(*state, wanted);
    const auto mirror = mirror_or_note(session, *place, (*store)->run_directory());
    follow_logs(**store, wanted, std::move(files), color);
  }
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("logs", "Print the full logs of steps and trainings");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("NODE",
                      "only of this node (with its trainings), step or training, for example 'worker[0]'");
  command->add_flag("-f,--follow", options->follow,
                    "follow the logs and the events of the run, until Ctrl-C");
  command->add_option("-n,--lines", options->lines, "only the last N lines of each log")
      ->check(CLI::PositiveNumber);
  return [options, &session] {
    take_files(options->words, options->project);
    if (options->words.size() > 1)
      return report(session, invalid("one node at a time: " + options->words.back())
                                 .with_hint("files come first: radlc logs FILE NODE"));
    if (!options->words.empty()) options->node = options->words.front();
    if (session.server.empty()) return run_logs(session, *options);
    return logs_on_service(session, {.project = options->project,
                                     .word = options->node,
                                     .lines = options->lines,
                                     .follow = options->follow});
  };
}

}  // namespace radl::cli::logs_command

// Lists the runs of an infrastructure, and follows or replays one.
#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/human.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/event_lines.h"
#include "runtime/cli/mirrored.h"
#include "runtime/cli/project.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/signals.h"
#include "runtime/driver/project_state.h"
#include "runtime/run/subscription.h"

namespace radl::cli::runs_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> words;  // FILE..., RUN
  std::string run;                 // an id, or how it ends
  bool follow = false, json = false;
  unsigned long long from = 1;
};

Json as_json(const KeptRun& run) {
  return {{"run", run.id},
          {"command", run.command},
          {"state", kept_state_name(run.state)},
          {"begun", utc_time(run.begun)},
          {"heard", utc_time(run.heard)},
          {"last", run.last},
          {"code", run.code},
          {"why", run.why},
          {"done", run.done},
          {"failed", run.failed},
          {"skipped", run.skipped}};
}

int list_runs(const Session& session, const std::string& folder, bool json) {
  auto runs = kept_runs(folder);
  if (!runs.ok()) return report(session, runs.status());
  if (json) {
    Json all = Json::array();
    for (const KeptRun& run : *runs) all.push_back(as_json(run));
    std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return kDone;
  }
  if (runs->empty()) std::fputs("No runs yet.\n", stderr);
  for (const KeptRun& run : *runs) {
    std::string text = fmt::format("{:<40} {:<12} {:>8}", run.id, kept_state_name(run.state),
                                   duration_text(std::max(run.heard - run.begun, 0.0)));
    if (run.state == KeptRun::State::Done || run.state == KeptRun::State::Failed)
      text += fmt::format("  {} done, {} failed, {} skipped", run.done, run.failed, run.skipped);
    if (!run.why.empty()) text += "; " + run.why;
    std::printf("%s\n", shown(text).c_str());
  }
  return kDone;
}

// What a whole run came to, as the exit status of the command that made it.
int code_of(const Session& session, const KeptRun& run) {
  switch (run.state) {
    case KeptRun::State::Done:
    case KeptRun::State::Going:
      return kDone;
    case KeptRun::State::Failed:
      return run.code == code_name(Code::Cancelled) ? kInterrupted : kWorldError;
    case KeptRun::State::Interrupted:
      break;
  }
  return report(session, Status(Code::Lost, "the run was interrupted: its process no longer exists")
                             .with_hint("run `radlc apply` or `radlc destroy` to recover"));
}

class Printer {
 public:
  Printer(bool json, bool color) : json_(json), lines_(Plan(), color, true) {}
  void print(const Event& event) {
    std::string line =
        json_ ? to_json(event).dump(-1, ' ', false, Json::error_handler_t::replace) : lines_.line(event);
    if (line.empty()) return;
    std::printf("%s\n", line.c_str());
  }

 private:
  bool json_;
  EventLines lines_;
};

int read_run(const Session& session, const std::string& folder, const Options& options) {
  auto run = find_run(folder, options.run);
  if (!run.ok()) return report(session, run.status());
  auto events = RunSubscription::open(folder, {run->id, options.from});
  if (!events.ok()) return report(session, events.status());
  Cancellation cancellation;
  SignalGuard guard(cancellation);
  const Stop stop = cancellation.finishing();
  Printer printer(options.json, session.terminal.color);
  KeptRun seen = *run;
  seen.state = KeptRun::State::Interrupted;
  while (true) {
    auto event = (*events)->next();
    if (event.ok() && !*event && options.follow) {
      std::fflush(stdout);
      event = (*events)->wait(stop);
    }
    if (!event.ok()) {
      std::fprintf(stderr, "note: %s\n", shown(event.status().message()).c_str());
      continue;
    }
    if (*event) {
      printer.print(**event);
      take_event(seen, **event);
      continue;
    }
    std::fflush(stdout);
    if ((*events)->over()) return code_of(session, seen);
    return options.follow ? int(kInterrupted) : int(kDone);  // it is still active
  }
}

int run_runs(const Session& session, Options& options) {
  take_files(options.words, options.project);
  if (options.words.size() > 1) return report(session, invalid("one run at a time: " + options.words.back()));
  if (!options.words.empty()) options.run = options.words.front();
  if (!session.server.empty())
    return runs_on_service(session, {.project = options.project,
                                     .run = json_run(options.json),
                                     .word = options.run,
                                     .from = options.from,
                                     .follow = options.follow});
  auto place = find_state(session.host, options.project);
  if (!place.ok()) return report(session, place.status());
  auto store = Store::open(place->directory, place->name, OpenMode::Read, *session.host.world);
  if (!store.ok()) return report(session, store.status());
  const std::string folder = (*store)->run_directory();
  store->reset();  // it may be removed while it is followed
  const auto mirror = mirror_or_note(session, *place, folder);
  if (options.run.empty() && !options.follow && options.from == 1)
    return list_runs(session, folder, options.json);
  return read_run(session, folder, options);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("runs", "List the runs of an infrastructure, or follow or replay one");
  auto options = std::make_shared<Options>();
  add_state_options(*command, options->project, &options->words);
  command->add_option("RUN", "print the events of this run: its ID, or the last characters of it");
  command->add_flag("-f,--follow", options->follow,
                    "follow RUN (default: the newest) until it ends; Ctrl-C stops only the output");
  command->add_option("--from", options->from, "start with the event of this number")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  command->add_flag("--json", options->json, "as JSON: the list of runs, or one event per line");
  return [options, &session] { return run_runs(session, *options); };
}

}  // namespace radl::cli::runs_command

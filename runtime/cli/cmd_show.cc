#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <set>

#include "common/json_values.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/display.h"
#include "runtime/cli/mirrored.h"
#include "runtime/cli/service_commands.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/state_view.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/logs.h"
#include "runtime/driver/project_state.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/render.h"
#include "runtime/run/subscription.h"

namespace radl::cli::show_command {
namespace {

// Progress of the active runs: "apply: 3 of 7 actions are over".
std::string progress_of_runs(const std::string& folder) {
  struct Progress {
    std::string command;
    unsigned long long actions = 0, over = 0;
  };
  std::map<std::string, Progress> runs;
  auto events = RunSubscription::open(folder, {});
  if (!events.ok()) return "";
  while (true) {
    auto event = (*events)->next();
    if (!event.ok()) continue;  // a line that is none is passed over
    if (!*event) break;
    const EventKind kind = (*event)->kind;
    Progress& run = runs[(*event)->run];
    if (kind == EventKind::RunStarted) {
      const Json& actions = json::member((*event)->data, "actions");
      run = {json::text_of((*event)->data, "command"),
             actions.is_number_unsigned() ? actions.get<unsigned long long>() : 0, 0};
    }
    run.over += kind == EventKind::ActionFinished || kind == EventKind::ActionFailed ||
                kind == EventKind::ActionSkipped;
  }
  std::string text;
  for (const auto& [id, run] : runs)
    text += fmt::format("{}{}: {} of {} actions are over", text.empty() ? "" : "; ", run.command, run.over,
                        run.actions);
  return text.empty() ? text : text + "; radlc runs -f follows it";
}

// "apply by ana on host7, process 4711, since ..., holds the lock; apply: 3 of 7 actions are over; ...";
// empty: no run is active.
std::string going_on(const Session& session, const StatePlace& place) {
  const Host& host = session.host;
  auto store = Store::open(place.directory, place.name, OpenMode::Read, *host.world);
  if (!store.ok()) return "";
  auto holder = (*store)->lock_holder();
  const std::string text = holder.ok() && *holder ? (*holder)->text() + ", holds the lock" : "";
  const auto mirror = mirror_or_note(session, place, (*store)->run_directory());
  const std::string progress = progress_of_runs((*store)->run_directory());
  return shown(text + (text.empty() || progress.empty() ? "" : "; ") + progress);
}

int show_plan(const Session& session, const std::string& path, bool json) {
  auto saved = read_plan_file(path);
  if (!saved.ok()) return report(session, saved.status());
  if (json) {
    std::printf("%s\n", to_json(saved->plan).dump(2).c_str());
    return kDone;
  }
  const PlanTextOptions look = plan_look(session);
  std::fputs(shown(render_text(saved->plan, look), look.color).c_str(), stdout);
  return kDone;
}

int run_show(const Session& session, const ProjectOptions& options, bool json) {
  if (options.files.size() == 1 && is_plan_file(options.files.front()))
    return show_plan(session, options.files.front(), json);
  auto place = find_state(session.host, options);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(session.host, place->directory, place->name);
  if (!snapshot.ok()) return report(session, snapshot.status());
  std::set<std::string> running = running_steps(session.host, place->directory, place->name);
  for (const auto& [step, by] : snapshot->supervised) running.insert(step);
  if (json) {
    std::printf("%s\n", with_running(to_json(*snapshot), running).dump(2).c_str());
  } else {
    print_state(session, to_json(*snapshot), place->directory, going_on(session, *place), running);
  }
  return kDone;
}

int run_output(const Session& session, const ProjectOptions& options, const std::string& name, bool json,
               bool raw) {
  auto place = find_state(session.host, options);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(session.host, place->directory, place->name);
  if (!snapshot.ok()) return report(session, snapshot.status());
  return print_outputs(session, to_json(*snapshot), {name, json, raw});
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("show", "Show nodes, steps and outputs of the state, or a saved plan");
  auto options = std::make_shared<ProjectOptions>();
  auto json = std::make_shared<bool>(false);
  add_state_options(*command, *options);
  command->add_flag("--json", *json, "as JSON (docs/state.md)");
  return [=, &session] {
    if (session.server.empty()) return run_show(session, *options, *json);
    return show_on_service(session, {.project = *options, .run = json_run(*json)});
  };
}

std::function<int()> add_output(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("output", "Print the outputs of the last apply");
  auto options = std::make_shared<ProjectOptions>();
  auto words = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false), raw = std::make_shared<bool>(false);
  add_state_options(*command, *options, words.get());
  command->add_option("NAME", "only this output");
  command->add_flag("--json", *json, "as JSON");
  command->add_flag("--raw", *raw, "print only the value of NAME, for scripts");
  return [=, &session] {
    take_files(*words, *options);
    if (words->size() > 1) return report(session, invalid("one output at a time: " + words->back()));
    const std::string name = words->empty() ? "" : words->front();
    if (session.server.empty()) return run_output(session, *options, name, *json, *raw);
    return output_on_service(session,
                             {.project = *options, .run = json_run(*json), .word = name, .raw = *raw});
  };
}

}  // namespace radl::cli::show_command

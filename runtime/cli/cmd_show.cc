#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <set>

#include "common/json_values.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/display.h"
#include "runtime/cli/mirrored.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/project_state.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/render.h"
#include "runtime/run/subscription.h"

namespace radl::cli::show_command {
namespace {

constexpr const char* kRunning = "running";

// How far the runs are that go on: "apply: 3 of 7 actions are over".
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
// empty: no run goes on.
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

// Steps that a living run is at now. The state has them as interrupted, which they are if the run dies.
std::set<std::string> running_steps(const Host& host, const StatePlace& place) {
  auto store = Store::open(place.directory, place.name, OpenMode::Read, *host.world);
  if (!store.ok()) return {};
  auto holder = (*store)->lock_holder();
  auto intents = (*store)->open_intents();
  if (!holder.ok() || !*holder || !intents.ok()) return {};
  std::set<std::string> steps;
  for (const Intent& intent : *intents)
    if (intent.kind == Intent::Kind::Run) steps.insert(intent.address);
  return steps;
}

void print_text(const Session& session, const Snapshot& state, const StatePlace& place,
                const std::string& whats_going_on, const std::set<std::string>& running) {
  Style style(session.terminal.color);
  std::printf("%s%s%s  (%s, serial %lld)\n", style.bold().data(), state.name.c_str(), style.off().data(),
              place.directory.c_str(), state.serial);
  const bool going = !whats_going_on.empty();
  if (going) std::printf("%s%s%s\n", style.yellow().data(), whats_going_on.c_str(), style.off().data());
  if (state.interrupted() && !going) {
    std::printf("%san interrupted run left %zu things open: apply or destroy looks them up%s\n",
                style.yellow().data(), state.open_intents, style.off().data());
  }
  for (const auto& [address, resource] : state.resources) {
    std::string where;
    if (resource.is_node() && resource.attributes.contains("host")) {
      where = fmt::format("  {}@{}:{}", resource.attributes.value("user", ""),
                          resource.attributes.value("host", ""), resource.attributes.value("port", 22));
    }
    std::printf("  %-24s %-8s %-9s%s\n", address.c_str(), resource.type.c_str(),
                std::string(resource_status_name(resource.status)).c_str(), where.c_str());
  }
  for (const auto& [id, step] : state.steps) {
    std::printf("  %-24s %-8s %-9s  %s\n", id.c_str(), step.kind.c_str(),
                running.contains(id) ? kRunning : std::string(step_status_name(step.status)).c_str(),
                running.contains(id) ? "" : duration_text(step.seconds).c_str());
    if (!step.error.empty()) std::printf("      %s\n", shown(step.error).c_str());
  }
  for (const OutputRecord& output : state.outputs) {
    std::printf("  output %s = %s\n", output.name.c_str(),
                output.sensitive ? "(sensitive)" : shown(render_value(output.value)).c_str());
  }
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
  std::set<std::string> running = running_steps(session.host, *place);
  for (const auto& [step, by] : snapshot->supervised) running.insert(step);
  if (json) {
    Json state = to_json(*snapshot);
    for (Json& step : state["steps"])
      if (running.contains(step.at("id").get<std::string>())) step["status"] = kRunning;
    std::printf("%s\n", state.dump(2).c_str());
  } else {
    print_text(session, *snapshot, *place, going_on(session, *place), running);
  }
  return kDone;
}

int run_output(const Session& session, const ProjectOptions& options, const std::string& name, bool json,
               bool raw) {
  auto place = find_state(session.host, options);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(session.host, place->directory, place->name);
  if (!snapshot.ok()) return report(session, snapshot.status());
  Json all = Json::object();
  for (const OutputRecord& output : snapshot->outputs) {
    if (!name.empty() && output.name != name) continue;
    if (raw && !name.empty()) {
      std::printf("%s", output.value.is_string() ? output.value.get<std::string>().c_str()
                                                 : output.value.dump().c_str());
      return kDone;
    }
    all[output.name] = {
        {"value", output.value}, {"sensitive", output.sensitive}, {"description", output.description}};
    if (!json) {
      std::printf("%s = %s\n", output.name.c_str(),
                  output.sensitive ? "(sensitive)" : shown(render_value(output.value)).c_str());
    }
  }
  if (!name.empty() && all.empty())
    return report(session, not_found("no output " + name + " in " + place->name));
  if (json) std::printf("%s\n", (name.empty() ? all : all[name]["value"]).dump(2).c_str());
  return kDone;
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command =
      app.add_subcommand("show", "Show nodes, steps and outputs of the state, or a saved plan");
  auto options = std::make_shared<ProjectOptions>();
  auto json = std::make_shared<bool>(false);
  add_state_options(*command, *options);
  command->add_flag("--json", *json, "as JSON (docs/state.md)");
  return [=, &session] { return run_show(session, *options, *json); };
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
    return run_output(session, *options, words->empty() ? "" : words->front(), *json, *raw);
  };
}

}  // namespace radl::cli::show_command

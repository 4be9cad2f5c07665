#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <cstdio>

#include "runtime/cli/all_commands.h"
#include "runtime/cli/display.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/plan/render.h"

namespace radl::cli::show_command {
namespace {

void print_text(const Session& session, const Snapshot& state, const StatePlace& place) {
  Style style(session.terminal.color);
  std::printf("%s%s%s  (%s, serial %lld)\n", style.bold().data(), state.name.c_str(), style.off().data(),
              place.directory.c_str(), state.serial);
  if (state.open_intents > 0) {
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
                std::string(step_status_name(step.status)).c_str(), duration_text(step.seconds).c_str());
    if (!step.error.empty()) std::printf("      %s\n", shown(step.error).c_str());
  }
  for (const OutputRecord& output : state.outputs) {
    std::printf("  output %s = %s\n", output.name.c_str(),
                output.sensitive ? "(sensitive)" : shown(render_value(output.value)).c_str());
  }
}

int run_show(const Session& session, const ProjectOptions& options, bool json) {
  auto place = find_state(options);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(place->directory, place->name);
  if (!snapshot.ok()) return report(session, snapshot.status());
  if (json) {
    std::printf("%s\n", to_json(*snapshot).dump(2).c_str());
  } else {
    print_text(session, *snapshot, *place);
  }
  return kDone;
}

int run_output(const Session& session, const ProjectOptions& options, const std::string& name, bool json,
               bool raw) {
  auto place = find_state(options);
  if (!place.ok()) return report(session, place.status());
  auto snapshot = read_snapshot(place->directory, place->name);
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
  CLI::App* command = app.add_subcommand("show", "Show what the state knows: nodes, steps, outputs");
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
  command->add_flag("--raw", *raw, "the bare value of NAME, for scripts");
  return [=, &session] {
    take_files(*words, *options);
    if (words->size() > 1) return report(session, invalid("one output at a time: " + words->back()));
    return run_output(session, *options, words->empty() ? "" : words->front(), *json, *raw);
  };
}

}  // namespace radl::cli::show_command

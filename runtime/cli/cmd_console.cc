#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "common/files.h"
#include "runtime/cli/all_commands.h"
#include "runtime/cli/line_reader.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/workflow.h"
#include "runtime/driver/project_state.h"
#include "runtime/plan/values.h"
#include "tools/console/console.h"

namespace radl::cli::console_command {
namespace {

struct Options {
  ProjectOptions project;
  std::vector<std::string> expressions;
};

// Values that the state knows take the place of unknown ones, at any depth.
Json resolved(const Json& value, const Snapshot& state) {
  if (value.is_object() && value.contains("$unknown") && value["$unknown"].is_string()) {
    auto known = known_value(state, value["$unknown"].get<std::string>());
    return known ? *known : value;
  }
  if (!value.is_structured()) return value;
  Json made = value;
  for (Json& inner : made) inner = resolved(inner, state);
  return made;
}

void add_program(ConsoleScope& scope, const ir::Program& program, const Snapshot& state) {
  for (const auto& [name, value] : program.inputs) scope.inputs[name] = value;
  for (const ir::Output& output : program.outputs) {
    scope.outputs[output.name] =
        output.sensitive ? Json{{"$secret", output.name}} : resolved(output.value, state);
  }
  for (const ir::Node& node : program.nodes) {
    auto& machines = scope.systems[node.system];
    if (machines.size() <= static_cast<size_t>(node.ordinal))
      machines.resize(static_cast<size_t>(node.ordinal) + 1);
    auto& attributes = machines[static_cast<size_t>(node.ordinal)].attributes;
    attributes["number"] = node.number;
    attributes["ordinal"] = node.ordinal;
    attributes["system"] = node.system;
    attributes["address"] = node.address;
    if (!node.interfaces.empty()) {
      attributes["hostname"] = node.interfaces[0].host_name;
      attributes["fqdn"] = node.interfaces[0].host_name + "." + node.interfaces[0].domain;
    }
  }
}

void add_state(ConsoleScope& scope, const Snapshot& state) {
  for (const OutputRecord& output : state.outputs) {
    scope.outputs[output.name] = output.sensitive ? Json{{"$secret", output.name}} : output.value;
  }
  for (const auto& [address, resource] : state.resources) {
    if (!resource.is_node() || resource.ordinal < 0) continue;
    auto& machines = scope.systems[resource.system];
    auto at = static_cast<size_t>(resource.ordinal);
    if (machines.size() <= at) machines.resize(at + 1);
    for (const char* name : {"ip", "private_ip", "public_ip", "port", "user", "id", "hostname", "fqdn"}) {
      if (auto value = node_attribute(resource, name)) machines[at].attributes[name] = *value;
    }
    machines[at].attributes["number"] = resource.number;
    machines[at].attributes["ordinal"] = resource.ordinal;
    machines[at].attributes["system"] = resource.system;
    machines[at].attributes["address"] = address;
  }
}

Result<ConsoleScope> make_scope(const Session& session, const Options& options) {
  ConsoleScope scope;
  Snapshot state;
  auto files = source_files(options.project);
  if (files.ok()) {
    auto project = load_project(session, options.project);
    if (!project.ok()) return std::move(project).status();
    const std::string& name = (*project)->compiled.program.name;
    if (auto known = read_snapshot(session.host, (*project)->state_directory, name); known.ok())
      state = std::move(*known);
    add_program(scope, (*project)->compiled.program, state);
  } else if (!options.project.files.empty() || options.project.state.empty()) {
    if (!options.project.files.empty()) return std::move(files).status();
    return scope;  // no file here: expressions by themselves
  } else {
    auto place = find_state(session.host, options.project);
    if (!place.ok()) return std::move(place).status();
    auto known = read_snapshot(session.host, place->directory, place->name);
    if (!known.ok()) return std::move(known).status();
    state = std::move(*known);
  }
  add_state(scope, state);
  return scope;
}

bool answer(const Session& session, const std::string& line, const ConsoleScope& scope) {
  ConsoleAnswer made = evaluate_line(line, scope, session.terminal.color);
  std::fputs(shown(made.text, session.terminal.color).c_str(), made.ok ? stdout : stderr);
  std::fflush(stdout);
  return made.ok;
}

// Lines of earlier conversations; "" where they cannot be kept.
std::string history_file(const Host& host) {
  const std::string path = host.state_file("console_history");
  const size_t slash = path.rfind('/');
  return !path.empty() && make_directories(path.substr(0, slash), 0700).ok() ? path : "";
}

// On a terminal wrong lines are part of the conversation; elsewhere one makes the exit status 1.
int converse(const Session& session, const ConsoleScope& scope) {
  bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDOUT_FILENO) != 0, fine = true;
  LineReader::Options look;
  if (terminal) look.history = history_file(session.host);
  look.word = [](const std::string& text) { return console_word(text); };
  look.complete = [&scope](const std::string& text) { return console_completions(text, scope); };
  LineReader reader(terminal, std::move(look));
  if (terminal) {
    std::printf("Type an expression; :help helps, %sCtrl-D ends.\n", reader.edits() ? "Tab completes, " : "");
    if (!reader.edits()) std::printf("(Lines cannot be edited here: libedit.so.2 is not installed.)\n");
  }
  std::string line;
  while (reader.next("> ", line) && line != ":quit" && line != ":q") {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    fine = answer(session, line, scope) && fine;
  }
  if (terminal) std::fputs("\n", stdout);
  return terminal || fine ? kDone : kUserError;
}

int run(const Session& session, const Options& options) {
  auto scope = make_scope(session, options);
  if (!scope.ok()) return report(session, scope.status());
  bool fine = true;
  if (!options.expressions.empty()) {
    for (const std::string& line : options.expressions) fine = answer(session, line, *scope) && fine;
    return fine ? kDone : kUserError;
  }
  return converse(session, *scope);
}

}  // namespace

std::function<int()> add(CLI::App& app, Session& session) {
  CLI::App* command = app.add_subcommand("console", "Evaluate expressions against a file and its state");
  auto options = std::make_shared<Options>();
  add_project_options(*command, options->project);
  command
      ->add_option("-e,--expression", options->expressions,
                   "evaluate this expression and exit; may be repeated")
      ->type_name("EXPRESSION");
  return [=, &session] { return run(session, *options); };
}

}  // namespace radl::cli::console_command

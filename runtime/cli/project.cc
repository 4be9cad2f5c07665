#include "runtime/cli/project.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "common/text.h"
#include "compiler/diag/render.h"
#include "runtime/base/sudo_secret.h"
#include "runtime/cli/project_state.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/terminal.h"
#include "runtime/plan/numbers.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/scaling.h"

extern char** environ;

namespace radl::cli {
namespace {

namespace fs = std::filesystem;

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view text(*entry);
    size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  return variables;
}

// Wraps the question so that a second compilation finds the answer among the inputs.
void remember_answers(Project& project) {
  if (!project.compile_with.ask) return;
  auto ask = std::move(project.compile_with.ask);
  project.compile_with.ask = [ask, &project](const std::string& name, const std::string& description,
                                             bool sensitive) {
    std::optional<std::string> answer = ask(name, description, sensitive);
    if (answer) project.answers[name] = *answer;
    return answer;
  };
}

// The file, and where its state is: the same for every command.
void add_file_options(CLI::App& command, ProjectOptions& options, std::vector<std::string>& positional,
                      const std::string& what) {
  command.add_option("FILE", positional, what);
  command
      .add_option_function<std::vector<std::string>>(
          "--file",
          [&options](const std::vector<std::string>& files) {
            options.files.insert(options.files.end(), files.begin(), files.end());
          },
          "the same as FILE; may be repeated")
      ->type_name("FILE");
  command
      .add_option(
          "--state", options.state,
          "where the state is: a folder, or s3://BUCKET/PREFIX, gs://.., az://.. (default: RADL_STATE, the "
          "file's option state, .radl beside the file)")
      ->type_name("PLACE");
  command.add_option("--name", options.name,
                     "name of the infrastructure (default: the description's, or the file's)");
}

}  // namespace

void add_state_options(CLI::App& command, ProjectOptions& options, std::vector<std::string>* words) {
  add_file_options(command, options, words != nullptr ? *words : options.files,
                   "RADL files that were applied, or their folder (default: the only .radl here)");
}

void take_files(std::vector<std::string>& words, ProjectOptions& options) {
  auto names_source = [](const std::string& word) {
    std::error_code error;
    if (word.ends_with(".radl") || word == "." || word == "..") return true;
    return word.find('/') != std::string::npos && fs::is_directory(word, error);
  };
  auto rest = std::find_if_not(words.begin(), words.end(), names_source);
  options.files.insert(options.files.end(), words.begin(), rest);
  words.erase(words.begin(), rest);
}

void add_project_options(CLI::App& command, ProjectOptions& options, std::vector<std::string>* words) {
  add_file_options(command, options, words != nullptr ? *words : options.files,
                   "RADL files, read as one document, or their folder (default: the only .radl here)");
  command.add_option("-i,--input", options.inputs, "value of an input, NAME=VALUE; may be repeated")
      ->type_name("NAME=VALUE");
  command.add_option("--input-file", options.input_files, "file of inputs, a NAME=VALUE a line, or JSON")
      ->type_name("FILE");
  command
      .add_option("--module-path", options.module_path,
                  "folder that modules are searched in; may be repeated")
      ->type_name("DIR");
}

Result<std::vector<std::string>> source_files(const ProjectOptions& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) {
    std::error_code error;
    auto file = fs::is_directory(path, error) ? only_file_in(path) : Result<std::string>(path);
    if (!file.ok()) return std::move(file).status();
    if (is_plan_file(*file))
      return Status(Code::Invalid, path + " is a saved plan, not RADL")
          .with_hint("`radlc apply " + shell_word(path) + "` does it, `radlc show " + shell_word(path) +
                     "` prints it");
    files.push_back(*file);
  }
  if (!files.empty()) return files;
  auto file = only_file_in(".");
  if (!file.ok()) return std::move(file).status();
  return std::vector<std::string>{*file};
}

Result<CompileOptions> compile_options(const Session& session, const ProjectOptions& options) {
  CompileOptions compile;
  for (const std::string& input : options.inputs) {
    size_t equals = input.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid("--input " + input + ": expected NAME=VALUE");
    }
    compile.inputs[input.substr(0, equals)] = input.substr(equals + 1);
  }
  compile.input_files = options.input_files;
  compile.environment = process_environment();
  compile.module_path = options.module_path;
  if (session.terminal.can_ask) {
    compile.ask = [](const std::string& name, const std::string& description, bool sensitive) {
      std::string question = "input " + name + (description.empty() ? "" : " (" + description + ")") + ":";
      std::string line = ask_line(question, sensitive);
      return line.empty() ? std::nullopt : std::optional(line);
    };
  }
  return compile;
}

Result<std::unique_ptr<Project>> load_project(const Session& session, const ProjectOptions& options) {
  auto files = source_files(options);
  if (!files.ok()) return files.status();
  auto compile_with = compile_options(session, options);
  if (!compile_with.ok()) return compile_with.status();
  auto project = std::make_unique<Project>();
  project->files = *files;
  project->words = project_words(options);
  project->compile_with = std::move(*compile_with);
  project->compile_with.lenient = true;  // `check` is the strict one
  remember_answers(*project);
  std::optional<Compiled> compiled =
      compile(project->files, project->compile_with, project->sources, project->diagnostics);
  project->diagnostics.sort();
  RenderOptions look;
  look.color = session.terminal.color;
  std::string text = render_text(project->diagnostics, project->sources, look);
  std::fputs(text.c_str(), stderr);
  if (!compiled) {
    std::string count = summary(project->diagnostics);
    if (!count.empty()) std::fprintf(stderr, "%s\n", count.c_str());
    return Status(Code::Invalid, "");
  }
  project->compiled = std::move(*compiled);
  project->deployed = project->compiled.deployed;
  if (!options.name.empty()) project->compiled.program.name = options.name;
  auto directory = state_of_program(options, project->compiled.program, files->front());
  if (!directory.ok()) return std::move(directory).status();
  project->state_directory = std::move(*directory);
  return project;
}

namespace {

// What is there already of a system that `scale` asks about.
Result<std::vector<int>> nodes_now(const Project& project, const std::string& system) {
  if (auto chosen = project.scaled.find(system); chosen != project.scaled.end())
    return chosen->second.ordinals;
  auto deployed = project.deployed.find(system);
  if (deployed == project.deployed.end()) {
    std::vector<std::string> names;
    for (const auto& [name, count] : project.deployed) names.push_back(name);
    return not_found("no system '" + system + "' is deployed; there are: " + join(names, ", "));
  }
  std::vector<int> ordinals(static_cast<size_t>(deployed->second));
  std::iota(ordinals.begin(), ordinals.end(), 0);
  return ordinals;
}

Status choose_nodes(Project& project) {
  const ScaleRequest& scale = *project.scale;
  auto now = nodes_now(project, scale.system);
  if (!now.ok()) return std::move(now).status();
  if (scale.reset) {
    project.scaled.erase(scale.system);
    return {};
  }
  ScaleWish wish{scale.count, scale.without};
  if (scale.relative) wish.count = std::max(0, static_cast<int>(now->size()) + *scale.count);
  auto chosen =
      scale.exactly ? Result<std::vector<int>>(*scale.exactly) : chosen_nodes(scale.system, *now, wish);
  if (!chosen.ok()) return std::move(chosen).status();
  const auto rules = elastic_rules(project.compiled.program);
  if (Status within = check_bounds(rules, scale.system, chosen->size()); !within.ok()) return within;
  project.scaled[scale.system] = {project.deployed[scale.system], std::move(*chosen)};
  return {};
}

}  // namespace

Status use_state_of(Project& project, const Snapshot& snapshot) {
  project.scaled = still_chosen(snapshot.scaled, project.deployed);
  if (project.scale) {
    if (Status chosen = choose_nodes(project); !chosen.ok()) return chosen;
  }
  std::map<std::string, std::vector<int>> nodes;
  for (const auto& [system, chosen] : project.scaled) nodes[system] = chosen.ordinals;
  const bool others = nodes != project.compile_with.chosen_nodes;
  const bool generates = project.compiled.uses_generated && project.compile_with.generator != snapshot.salt;
  if (!others && !generates && !numbers_moved(project.compiled.program, snapshot)) return {};
  project.compile_with.generator = snapshot.salt;
  project.compile_with.chosen_nodes = std::move(nodes);
  std::string name = project.compiled.program.name;
  project.compile_with.node_numbers = node_numbers(snapshot);
  for (const auto& [input, answer] : project.answers) project.compile_with.inputs.emplace(input, answer);
  SourceMap sources;
  Diagnostics diagnostics;  // the same findings again: they were shown
  std::optional<Compiled> compiled = compile(project.files, project.compile_with, sources, diagnostics);
  if (!compiled && others) {
    diagnostics.sort();
    std::fputs(render_text(diagnostics, sources, {}).c_str(), stderr);
    return invalid("the file cannot have these nodes");
  }
  if (!compiled)
    return Status(Code::Conflict, "a source file changed while it was read").with_hint("run it again");
  project.compiled = std::move(*compiled);
  project.compiled.program.name = name;
  use_sudo_password(project, project.sudo_password);
  return {};
}

void use_sudo_password(Project& project, const std::string& password) {
  project.sudo_password = password;
  if (!password.empty()) project.compiled.secrets[kSudoSecret] = password;
}

std::string project_words(const ProjectOptions& options) {
  std::string words;
  for (const std::string& file : options.files) words += " " + shell_word(file);
  if (!options.state.empty()) words += " --state " + shell_word(options.state);
  if (!options.name.empty()) words += " --name " + shell_word(options.name);
  return words;
}

}  // namespace radl::cli

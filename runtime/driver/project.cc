#include "runtime/driver/project.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "common/text.h"
#include "runtime/base/sudo_secret.h"
#include "runtime/clouds/elsewhere.h"
#include "runtime/driver/project_state.h"
#include "runtime/driver/shell_word.h"
#include "runtime/plan/numbers.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/scaling.h"

namespace radl::driver {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

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

Result<CompileOptions> compile_options(const Host& host, const ProjectOptions& options, AskInput ask) {
  CompileOptions compile;
  for (const std::string& input : options.inputs) {
    size_t equals = input.find('=');
    if (equals == std::string::npos || equals == 0) {
      return invalid("--input " + input + ": expected NAME=VALUE");
    }
    compile.inputs[input.substr(0, equals)] = input.substr(equals + 1);
  }
  compile.input_files = options.input_files;
  compile.environment = host.environment().variables();
  compile.module_path = options.module_path;
  compile.image_schemes = known_image_schemes(*host.providers);
  compile.ask = std::move(ask);
  return compile;
}

Status load_project(const Host& host, const ProjectOptions& options, AskInput ask, Project& project) {
  auto files = source_files(options);
  if (!files.ok()) return files.status();
  auto compile_with = compile_options(host, options, std::move(ask));
  if (!compile_with.ok()) return compile_with.status();
  project.host = &host;
  project.files = *files;
  project.words = project_words(options);
  project.compile_with = std::move(*compile_with);
  project.compile_with.lenient = true;  // `check` is the strict one
  remember_answers(project);
  std::optional<Compiled> compiled =
      compile(project.files, project.compile_with, project.sources, project.diagnostics);
  project.diagnostics.sort();
  if (!compiled) return Status(Code::Invalid, "");
  project.compiled = std::move(*compiled);
  project.deployed = project.compiled.deployed;
  if (!options.name.empty()) project.compiled.program.name = options.name;
  auto directory = state_of_program(host, options, project.compiled.program, files->front());
  if (!directory.ok()) return std::move(directory).status();
  project.state_directory = std::move(*directory);
  auto farms = elastic_farms_of(project.compiled.program, project.deployed);
  if (!farms.ok()) return std::move(farms).status();
  project.farms = std::move(*farms);
  return {};
}

namespace {

// The ordinals of the existing nodes of a system that `scale` changes.
Result<std::vector<int>> nodes_now(const Project& project, const std::string& system) {
  if (auto chosen = project.scaled.find(system); chosen != project.scaled.end())
    return chosen->second.ordinals;
  auto deployed = project.deployed.find(system);
  if (deployed == project.deployed.end()) {
    std::vector<std::string> names;
    for (const auto& [name, count] : project.deployed) names.push_back(name);
    return not_found("no system '" + system + "' is deployed; deployed: " + join(names, ", "));
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

namespace {

std::map<std::string, std::vector<int>> nodes_of(const Scalings& scaled) {
  std::map<std::string, std::vector<int>> nodes;
  for (const auto& [system, chosen] : scaled) nodes[system] = chosen.ordinals;
  return nodes;
}

CompileOptions options_for(const Project& project, const Snapshot& snapshot, const Scalings& scaled) {
  CompileOptions options = project.compile_with;
  options.generator = snapshot.salt;
  options.chosen_nodes = nodes_of(scaled);
  options.node_numbers = node_numbers(snapshot);
  for (const auto& [input, answer] : project.answers) options.inputs.emplace(input, answer);
  return options;
}

}  // namespace

Result<Compiled> compiled_with(const Project& project, const Snapshot& snapshot) {
  CompileOptions options = options_for(project, snapshot, still_chosen(snapshot.scaled, project.deployed));
  options.ask = nullptr;
  Findings findings;
  std::optional<Compiled> compiled = compile(project.files, options, findings.sources, findings.diagnostics);
  if (!compiled || compiled->program.source_digest != project.compiled.program.source_digest)
    return Status(Code::Conflict, "the files have changed since");
  return std::move(*compiled);
}

namespace {

Status compile_for_state(Project& project, const Snapshot& snapshot, const CloudSet& clouds) {
  project.scaled = still_chosen(snapshot.scaled, project.deployed);
  if (project.scale) {
    if (Status chosen = choose_nodes(project); !chosen.ok()) return chosen;
  }
  if (Status chosen = choose_farm_nodes(project, snapshot, clouds); !chosen.ok()) return chosen;
  const bool others = nodes_of(project.scaled) != project.compile_with.chosen_nodes;
  const bool generates = project.compiled.uses_generated && project.compile_with.generator != snapshot.salt;
  if (!others && !generates && !numbers_moved(project.compiled.program, snapshot)) return {};
  std::string name = project.compiled.program.name;
  project.compile_with = options_for(project, snapshot, project.scaled);
  auto again = std::make_unique<Findings>();  // on success the same findings as before
  std::optional<Compiled> compiled =
      compile(project.files, project.compile_with, again->sources, again->diagnostics);
  if (!compiled && others) {
    again->diagnostics.sort();
    project.refused = std::move(again);
    return invalid("the file cannot have these nodes");
  }
  if (!compiled)
    return Status(Code::Conflict, "a source file changed while it was read").with_hint("run it again");
  project.compiled = std::move(*compiled);
  project.compiled.program.name = name;
  use_sudo_password(project, project.sudo_password);
  return {};
}

}  // namespace

Status use_state_of(Project& project, const Snapshot& snapshot, const CloudSet& clouds) {
  Status compiled = compile_for_state(project, snapshot, clouds);
  if (compiled.ok()) give_farm_leases(project, clouds);
  return compiled;
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

}  // namespace radl::driver

#include "runtime/cli/project.h"
#include "runtime/base/sudo_secret.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "compiler/diag/render.h"
#include "compiler/syntax/parser.h"
#include "runtime/cli/shown.h"
#include "runtime/cli/terminal.h"
#include "runtime/plan/numbers.h"
#include "runtime/plan/plan_file.h"
#include "runtime/plan/scaling.h"
#include "runtime/state/place.h"

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

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
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

// Clouds start processes in folders of their own, so the state's place must not depend on this one's.
std::string absolute(const std::string& path) {
  std::error_code error;
  auto whole = std::filesystem::absolute(path, error).lexically_normal();
  return error ? path : whole.string();
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code error;
  auto left = std::filesystem::weakly_canonical(a, error),
       right = std::filesystem::weakly_canonical(b, error);
  return left == right;
}

// Where a source lay when it was applied, and where it lies now: a project's folder may have been moved.
bool was_applied_from(const std::string& recorded, const std::string& file) {
  std::error_code error;
  if (same_file(recorded, file)) return true;
  return !fs::exists(recorded, error) && fs::path(recorded).filename() == fs::path(file).filename();
}

struct Applied {
  std::vector<std::string> from;     // infrastructures that were applied from one of the files
  std::vector<std::string> unknown;  // those that do not say: their first apply did not come to its end
};

Applied applied_from(const std::string& directory, const std::vector<std::string>& names,
                     const std::vector<std::string>& files) {
  Applied found;
  for (const std::string& name : names) {
    auto store = Store::open(directory, name, OpenMode::Read, real_world());
    auto snapshot = store.ok() ? (*store)->snapshot() : Result<Snapshot>(store.status());
    if (!snapshot.ok() || snapshot->source_paths.empty()) {
      found.unknown.push_back(name);
      continue;
    }
    const std::vector<std::string>& paths = snapshot->source_paths;
    bool matches = std::any_of(paths.begin(), paths.end(), [&](const auto& path) {
      return std::any_of(files.begin(), files.end(),
                         [&](const auto& file) { return was_applied_from(path, file); });
    });
    if (matches) found.from.push_back(name);
  }
  return found;
}

std::vector<std::string> radl_files_in(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".radl" || !entry.is_regular_file(error)) continue;
    found.push_back(folder == "." ? entry.path().filename().string() : entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<std::string> only_file_in(const std::string& folder) {
  std::string here = folder == "." ? "this folder" : folder;
  std::vector<std::string> found = radl_files_in(folder);
  if (found.size() == 1) return found.front();
  if (!found.empty()) return invalid(here + " has several .radl files; name one: " + joined(found));
  return not_found((folder == "." ? "no file was given, and " : "") + here + " has no .radl file");
}

// The files that a state is looked for by. A folder may have lost its file: the state beside it counts.
std::vector<std::string> files_applied(const ProjectOptions& options) {
  std::vector<std::string> files;
  for (const std::string& path : options.files) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
    } else if (auto file = only_file_in(path); file.ok()) {
      files.push_back(*file);
    }
  }
  return files;
}

// What the command line or the environment says.
std::string given_state(const ProjectOptions& options) {
  if (!options.state.empty()) return options.state;
  const char* variable = std::getenv("RADL_STATE");
  return variable ? variable : "";
}

// A folder that a file names lies beside it, wherever radlc is run.
std::string beside(const std::string& place, const std::string& file) {
  if (is_bucket_place(place) || place.starts_with('/')) return state_place(place);
  return absolute((fs::path(file).parent_path() / place).string());
}

// `option state = '...'` of a file that is not compiled; "" where there is none.
Result<std::string> state_option_of(const std::string& file) {
  SourceMap sources;
  Diagnostics ignored;  // the commands that compile report them
  auto source = sources.load(file);
  if (!source.ok()) return std::string();
  auto tree = parse(**source, ignored);
  for (const ast::Block* block : tree->blocks) {
    const auto* context = ast::as<ast::Contextualize>(block);
    if (!context) continue;
    for (const ast::Option* option : context->options) {
      if (option->name.text != "state" || option->value == nullptr) continue;
      const auto* text = ast::as<ast::String>(option->value);
      if (text && text->parts.empty()) return std::string(text->text);
      return Status(Code::Invalid, file +
                                       ": this command does not compile the file, whose option state is "
                                       "more than a string")
          .with_hint("say where the state is with --state or RADL_STATE");
    }
  }
  return std::string();
}

Result<std::string> state_of_program(const ProjectOptions& options, const ir::Program& program,
                                     const std::string& file) {
  if (std::string given = given_state(options); !given.empty()) return state_place(given);
  auto option = program.options.find("state");
  if (option == program.options.end()) return absolute(default_state_directory(file));
  if (option->second.is_string()) return beside(option->second.get<std::string>(), file);
  return Status(Code::Invalid, "option state: expected a string")
      .with_hint("a folder, or 's3://BUCKET/PREFIX', 'gs://..', 'az://..'");
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
    return not_found("no system '" + system + "' is deployed; there are: " + joined(names));
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

std::string state_place(const std::string& words) { return is_bucket_place(words) ? words : absolute(words); }

Result<std::string> state_directory(const ProjectOptions& options) {
  if (std::string given = given_state(options); !given.empty()) return state_place(given);
  std::error_code error;
  std::vector<std::string> files = files_applied(options);
  if (options.files.empty()) {
    if (auto file = only_file_in("."); file.ok()) files = {*file};
  }
  for (const std::string& file : files) {
    auto option = state_option_of(file);
    if (!option.ok()) return std::move(option).status();
    if (!option->empty()) return beside(*option, file);
  }
  if (options.files.empty()) return absolute(".radl");
  const std::string& file = options.files.front();
  return absolute(fs::is_directory(file, error) ? file + "/.radl" : default_state_directory(file));
}

std::string project_words(const ProjectOptions& options) {
  std::string words;
  for (const std::string& file : options.files) words += " " + shell_word(file);
  if (!options.state.empty()) words += " --state " + shell_word(options.state);
  if (!options.name.empty()) words += " --name " + shell_word(options.name);
  return words;
}

Result<StatePlace> find_state(const ProjectOptions& options) {
  auto place = state_directory(options);
  if (!place.ok()) return std::move(place).status();
  const std::string& directory = *place;
  auto names = list_states(directory);
  if (!names.ok()) return std::move(names).status();
  if (!options.name.empty()) {
    if (std::find(names->begin(), names->end(), options.name) != names->end())
      return StatePlace{directory, options.name};
    return not_found("no infrastructure " + options.name + " in " + directory +
                     (names->empty() ? "" : "; there are: " + joined(*names)));
  }
  if (names->empty())
    return Status(Code::NotFound, "nothing has been applied here: " + directory + " holds no state");
  std::vector<std::string> files = files_applied(options), candidates = *names;
  if (files.empty() && candidates.size() > 1) files = radl_files_in(".");
  if (!files.empty() && (candidates.size() > 1 || !options.files.empty())) {
    Applied applied = applied_from(directory, *names, files);
    candidates = applied.from.empty() ? applied.unknown : applied.from;
    if (candidates.empty() && !options.files.empty()) {
      return Status(Code::NotFound, "nothing has been applied from " + joined(files) + "; " + directory +
                                        " holds: " + joined(*names))
          .with_hint("name one with --name");
    }
  }
  if (candidates.size() == 1) return StatePlace{directory, candidates.front()};
  return Status(Code::Invalid, directory + " holds several infrastructures: " + joined(*names))
      .with_hint("name one with --name");
}

}  // namespace radl::cli

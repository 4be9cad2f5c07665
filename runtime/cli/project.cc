#include "runtime/cli/project.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "compiler/diag/render.h"
#include "runtime/cli/terminal.h"

namespace radl::cli {
namespace {

namespace fs = std::filesystem;

void print(const Session& session, const Diagnostics& diagnostics, const SourceMap& sources) {
  RenderOptions look;
  look.color = session.terminal.color;
  std::fputs(render_text(diagnostics, sources, look).c_str(), stderr);
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
  add_place_options(command, options);
}

}  // namespace

void add_place_options(CLI::App& command, ProjectOptions& options) {
  command
      .add_option("--state", options.state,
                  "place of the state: a folder, or s3://BUCKET/PREFIX, gs://.., az://.. (default: "
                  "RADL_STATE, the file's option state, .radl beside the file)")
      ->type_name("PLACE");
  command.add_option("--name", options.name,
                     "name of the infrastructure (default: the description's, or the file's)");
}

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
  command.add_option("--input-file", options.input_files, "file of inputs: one NAME=VALUE per line, or JSON")
      ->type_name("FILE");
  command
      .add_option("--module-path", options.module_path,
                  "folder in which modules are searched; may be repeated")
      ->type_name("DIR");
}

AskInput asks_for_inputs(const Session& session) {
  if (!session.terminal.can_ask) return {};
  return [](const std::string& name, const std::string& description, bool sensitive) {
    std::string question = "input " + name + (description.empty() ? "" : " (" + description + ")") + ":";
    std::string line = ask_line(question, sensitive);
    return line.empty() ? std::nullopt : std::optional(line);
  };
}

Result<CompileOptions> compile_options(const Session& session, const ProjectOptions& options) {
  return driver::compile_options(session.host, options, asks_for_inputs(session));
}

Result<std::unique_ptr<Project>> load_project(const Session& session, const ProjectOptions& options) {
  auto project = std::make_unique<Project>();
  const Status loaded = driver::load_project(session.host, options, asks_for_inputs(session), *project);
  print_findings(session, *project, loaded);
  return loaded.ok() ? Result<std::unique_ptr<Project>>(std::move(project)) : loaded;
}

void print_findings(const Session& session, const Project& project, const Status& loaded) {
  print(session, project.diagnostics, project.sources);
  if (loaded.ok() || !loaded.message().empty()) return;
  if (const std::string count = summary(project.diagnostics); !count.empty())
    std::fprintf(stderr, "%s\n", count.c_str());
}

int report_unplanned(const Session& session, const Project& project, const Status& why) {
  if (project.refused) print(session, project.refused->diagnostics, project.refused->sources);
  return report(session, why);
}

}  // namespace radl::cli

// From a command's FILE, --input, --state and --name to a compiled program and the place of its state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "runtime/cli/command.h"
#include "runtime/state/store.h"

namespace radl::cli {

struct ProjectOptions {
  std::vector<std::string> files;   // empty: the one .radl file of this folder
  std::vector<std::string> inputs;  // "name=value"
  std::vector<std::string> input_files;
  std::vector<std::string> module_path;
  std::string state;  // folder of states; empty: .radl beside the first file
  std::string name;   // of the infrastructure; empty: the program's
};

void add_project_options(CLI::App& command, ProjectOptions& options);
// Only --state and --name, for commands that need no source.
void add_state_options(CLI::App& command, ProjectOptions& options);

struct Project {
  SourceMap sources;
  Diagnostics diagnostics;
  Compiled compiled;
  std::string state_directory;
  std::vector<std::string> files;
  CompileOptions compile_with;
  std::map<std::string, std::string> answers;  // to questions for inputs, so that none is asked twice
};

// Compiles; prints every finding on standard error. Invalid (with an empty message, as all is said) when one
// is an error.
Result<std::unique_ptr<Project>> load_project(const Session& session, const ProjectOptions& options);

// Compiles again where the state's nodes have other #N# numbers than the first compilation gave them.
Status use_numbers_of(Project& project, const Snapshot& snapshot);

// The compiler's options that the flags and the environment (RADL_INPUT_name) give.
Result<CompileOptions> compile_options(const Session& session, const ProjectOptions& options);

// The folder of states that a command without compilation means.
std::string state_directory(const ProjectOptions& options);

struct StatePlace {
  std::string directory;
  std::string name;
};
// Which infrastructure a command without compilation means: --name, else the only one, else the one that was
// applied from the given file. NotFound and Invalid list what there is.
Result<StatePlace> find_state(const ProjectOptions& options);

// The files given, or the only *.radl of this folder.
Result<std::vector<std::string>> source_files(const ProjectOptions& options);

}  // namespace radl::cli

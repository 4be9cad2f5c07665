// A project: its files and inputs, the compiled program, and the location of its state.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/source/source.h"
#include "runtime/driver/elastic_farms.h"
#include "runtime/driver/host.h"
#include "runtime/plan/scaling.h"
#include "runtime/state/store.h"

namespace radl::driver {

struct ProjectOptions {
  std::vector<std::string> files;   // or a folder with one .radl file; empty: this folder
  std::vector<std::string> inputs;  // "name=value"
  std::vector<std::string> input_files;
  std::vector<std::string> module_path;
  // Location of states: a folder or s3://BUCKET/PREFIX. Empty: RADL_STATE, else the file's `option state`,
  // else .radl beside the first file.
  std::string state;
  std::string name;  // of the infrastructure; empty: the program's
};

// A request of `radlc scale`.
struct ScaleRequest {
  std::string system;
  std::optional<int> count;
  bool relative = false;                    // `count` is a difference
  std::vector<int> without;                 // ordinals of nodes to remove first
  std::optional<std::vector<int>> exactly;  // exactly these ordinals, ascending; replaces the above
  bool reset = false;                       // back to the file's number
  // For an elastic farm's system: only remove nodes. Conflict: another radlc works on the farm.
  bool frees = false;
};

// Asks a person for an input's value; nullopt if there is no answer.
using AskInput = decltype(CompileOptions::ask);

// Findings of a compilation, with the sources that they point into.
struct Findings {
  SourceMap sources;
  Diagnostics diagnostics;
};

struct Project {
  const Host* host = nullptr;  // must outlive this object
  SourceMap sources;
  Diagnostics diagnostics;
  std::unique_ptr<Findings> refused;  // why the file does not allow the requested nodes (use_state_of)
  Compiled compiled;
  std::string state_directory;
  std::vector<std::string> files;
  CompileOptions compile_with;
  std::string words;                           // project_words() of the options
  std::string sudo_password;                   // among compiled.secrets (use_sudo_password)
  std::map<std::string, std::string> answers;  // to questions for inputs, so that each is asked once
  std::optional<ScaleRequest> scale;
  std::vector<ElasticFarm> farms;       // of the program as in the file
  FarmNodes farm_nodes;                 // overrides of their nodes
  Scalings scaled;                      // used by the compilation (use_state_of)
  std::map<std::string, int> deployed;  // system -> nodes, as the file says
};

// Compiles into `project`, whose findings are set on success and on failure. Invalid with an empty message:
// the findings contain the errors.
Status load_project(const Host& host, const ProjectOptions& options, AskInput ask, Project& project);

// Compiles again if the state's nodes or their #N# numbers differ from those of the first compilation,
// because `radlc scale` has chosen or is choosing others. Chooses the nodes of elastic farms
// (choose_farm_nodes). NotFound, Invalid: about `scale`; if the compiler found the reason, it is in
// project.refused.
Status use_state_of(Project& project, const Snapshot& snapshot, const CloudSet& clouds);

// Returns what use_state_of() would compile now, with nodes chosen since by `radlc scale`. Conflict: the
// files have changed since the project was compiled, or do not allow these nodes.
Result<Compiled> compiled_with(const Project& project, const Snapshot& snapshot);

// Adds the nodes' sudo password to the program's secrets (kSudoSecret). Empty: no password.
void use_sudo_password(Project& project, const std::string& password);

// Returns the compiler's options from the project's options and the environment (RADL_INPUT_name).
Result<CompileOptions> compile_options(const Host& host, const ProjectOptions& options, AskInput ask);

// Returns " FILE --state DIR --name NAME" as given, for a command line to copy.
std::string project_words(const ProjectOptions& options);

// Returns the given files. A folder stands for its only *.radl file, and no file for the only one in this
// folder.
Result<std::vector<std::string>> source_files(const ProjectOptions& options);

}  // namespace radl::driver

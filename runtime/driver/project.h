// A project: from files, inputs and the place of a state to a compiled program and its state's folder.
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
  std::vector<std::string> files;   // or a folder: its one .radl file; empty: that of this folder
  std::vector<std::string> inputs;  // "name=value"
  std::vector<std::string> input_files;
  std::vector<std::string> module_path;
  // Where states are: a folder, or s3://BUCKET/PREFIX; empty: what RADL_STATE says, else the file's
  // `option state`, else .radl beside the first file.
  std::string state;
  std::string name;  // of the infrastructure; empty: the program's
};

// What `radlc scale` asks for.
struct ScaleRequest {
  std::string system;
  std::optional<int> count;
  bool relative = false;                    // `count` is a difference
  std::vector<int> without;                 // ordinals of nodes that go first
  std::optional<std::vector<int>> exactly;  // these ordinals, ascending, in place of all that
  bool reset = false;                       // as many as the file says
  // Of an elastic farm's system: nothing but removals is done. Conflict: a radlc works on the farm.
  bool frees = false;
};

// Asks a person for an input's value; nothing: there is no answer.
using AskInput = decltype(CompileOptions::ask);

// Findings of a compilation, with the sources that they point into.
struct Findings {
  SourceMap sources;
  Diagnostics diagnostics;
};

struct Project {
  const Host* host = nullptr;  // outlives it
  SourceMap sources;
  Diagnostics diagnostics;
  std::unique_ptr<Findings> refused;  // why the file cannot have the nodes asked for (use_state_of)
  Compiled compiled;
  std::string state_directory;
  std::vector<std::string> files;
  CompileOptions compile_with;
  std::string words;          // project_words() of the options
  std::string sudo_password;  // among compiled.secrets (use_sudo_password)
  std::map<std::string, std::string>
      answers;  // to questions for inputs, so that none is asked more than once
  std::optional<ScaleRequest> scale;
  std::vector<ElasticFarm> farms;       // of the program as the file has it
  FarmNodes farm_nodes;                 // what else decides about their nodes
  Scalings scaled;                      // that it is compiled with (use_state_of)
  std::map<std::string, int> deployed;  // system -> nodes, as the file says
};

// Compiles into `project`, whose findings are there on success and on failure. Invalid with an empty message:
// one of the findings is an error and says all.
Status load_project(const Host& host, const ProjectOptions& options, AskInput ask, Project& project);

// Compiles again where the state's nodes are others than the first compilation's, or have other #N# numbers:
// what `radlc scale` has chosen, or is asked for now. NotFound, Invalid: of `scale`; with project.refused if
// the compiler found the reason. Of elastic farms it chooses the nodes (choose_farm_nodes).
Status use_state_of(Project& project, const Snapshot& snapshot, const CloudSet& clouds);

// What use_state_of() would compile, with nodes that `radlc scale` has chosen since. Conflict: the files have
// changed since the project was compiled, or cannot have these nodes.
Result<Compiled> compiled_with(const Project& project, const Snapshot& snapshot);

// Puts the password that sudo asks for on nodes among the program's secrets (kSudoSecret); empty: there is
// none.
void use_sudo_password(Project& project, const std::string& password);

// The compiler's options that the project's options and the environment (RADL_INPUT_name) give.
Result<CompileOptions> compile_options(const Host& host, const ProjectOptions& options, AskInput ask);

// " FILE --state DIR --name NAME", as far as they were given, for a command line that a user may copy.
std::string project_words(const ProjectOptions& options);

// The files given, with the only *.radl of a folder in its place, or the only *.radl of this folder.
Result<std::vector<std::string>> source_files(const ProjectOptions& options);

}  // namespace radl::driver

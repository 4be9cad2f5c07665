// The compiler's one door: files in, IR or diagnostics out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

class Diagnostics;  // compiler/diag/diagnostic.h
class SourceMap;    // compiler/source/source.h

struct CompileOptions {
  std::map<std::string, std::string> inputs;  // --input k=v
  std::vector<std::string> input_files;       // --input-file, weaker than `inputs`
  // The process's environment: RADL_INPUT_name, weaker than the files; RADL_STDLIB; what env() reads.
  std::map<std::string, std::string> environment;
  // Asks for a missing input on a terminal; absent: a missing one is an error.
  std::function<std::optional<std::string>(const std::string& name, const std::string& description,
                                           bool sensitive)>
      ask;
  // #N# of nodes that exist already, from the state (runtime/plan/numbers.h): address -> number. They keep
  // theirs; new nodes get the smallest free ones. Empty: 0, 1, 2, ... in deploy order.
  std::map<std::string, int> node_numbers;
  // Systems whose nodes `radlc scale` has chosen (runtime/plan/scaling.h): system -> ordinals, ascending.
  // They have these nodes, and not as many as their deploys say.
  std::map<std::string, std::vector<int>> chosen_nodes;
  // What generated() makes its secrets of: the state's own random key. Without it they are none that may be
  // used.
  std::string generator;
  // A missing input is no error and what depends on it is not looked at: for editors and `radlc check`. In a
  // program that asks for one, findings about what nothing uses are left out as well.
  bool inputs_may_be_missing = false;
  bool lenient =
      false;  // also takes what real files write and the reference's check refuses (sema::CheckOptions)
  // Schemes that the addresses of images may have: "aws". Others are warned of (W0315); empty: none is.
  std::vector<std::string> image_schemes;
  // Called after each pass with its name and what it made, as text: `radlc compile --dump PASS`.
  std::function<void(std::string_view pass, const std::string& dump)> on_pass;
  std::vector<std::string>
      module_path;  // searched after the importing file's folder; the installed stdlib last
};

// A recipe of Ansible or cloud-init that no node runs: its system has no nodes now, or nothing binds it.
struct IdleRecipe {
  std::string name, text;
  ir::Origin origin;
};

struct Compiled {
  ir::Program program;
  ir::Secrets secrets;
  bool uses_generated = false;          // its secrets depend on CompileOptions::generator
  std::map<std::string, int> deployed;  // system -> nodes, as the files' deploys have it
  std::vector<IdleRecipe> idle_recipes;
};

// Compiles the files as one document, in order. All findings go to `diagnostics`; nullopt when one is an
// error.
std::optional<Compiled> compile(const std::vector<std::string>& paths, const CompileOptions& options,
                                SourceMap& sources, Diagnostics& diagnostics);

// The names of the passes, in order, each with one sentence that says what it does.
std::vector<std::pair<std::string_view, std::string_view>> compiler_passes();

}  // namespace radl

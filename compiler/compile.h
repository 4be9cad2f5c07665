// The compiler's one door: files in, IR or diagnostics out.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"

namespace radl {

class Diagnostics;  // compiler/diag/diagnostic.h
class SourceMap;    // compiler/source/source.h

struct CompileOptions {
  std::map<std::string, std::string> inputs;       // --input k=v
  std::vector<std::string> input_files;            // --input-file, weaker than `inputs`
  std::map<std::string, std::string> environment;  // RADL_INPUT_name, weaker than the files
  // Asks for a missing input on a terminal; absent: a missing one is an error.
  std::function<std::optional<std::string>(const std::string& name, const std::string& description, bool sensitive)> ask;
  // #N# of nodes that exist already, from the state (runtime/plan/numbers.h): address -> number. They keep theirs;
  // new nodes get the smallest free ones. Empty: 0, 1, 2, ... in deploy order.
  std::map<std::string, int> node_numbers;
  std::vector<std::string> module_path;  // searched after the importing file's folder; the installed stdlib last
};

struct Compiled {
  ir::Program program;
  ir::Secrets secrets;
};

// Compiles the files as one document, in order. All findings go to `diagnostics`; nullopt when one is an error.
std::optional<Compiled> compile(const std::vector<std::string>& paths, const CompileOptions& options,
                                SourceMap& sources, Diagnostics& diagnostics);

}  // namespace radl

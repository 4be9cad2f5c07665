// Detects standard library modules that could replace a program's own recipes. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace radl::driver {

struct Replaceable {
  std::string module;            // "std/training/mpi"
  std::string recipe;            // "wn"
  std::set<std::string> nodes;   // addresses; empty: no node runs it
  ir::Origin origin;             // of the recipe
  std::vector<std::string> why;  // lines of the recipe that match, at most three
};

// Sorted by module and recipe. Recognizes a recipe by words of its text: roles, packages, programs. It may do
// more than the module, so each recognized line is shown.
std::vector<Replaceable> replaceable_recipes(const Compiled& compiled);

// Describes in one sentence what a module does, and how to use it instead of a recipe. Empty if
// unknown.
std::string module_in_words(const std::string& module);

}  // namespace radl::driver

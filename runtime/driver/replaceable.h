// Which modules of the standard library do what recipes of a program do by hand: pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace radl::driver {

struct Replaceable {
  std::string module;            // "std/training/mpi"
  std::string recipe;            // "wn"
  std::set<std::string> nodes;   // addresses; empty: no node runs it now
  ir::Origin origin;             // of the recipe
  std::vector<std::string> why;  // lines of the recipe, at most three
};

// By module and recipe. A recipe is known by the words of its text: roles, packages, programs. What it does
// besides nobody can tell, so each line that was recognised is shown.
std::vector<Replaceable> replaceable_recipes(const Compiled& compiled);

// What a module does, in one sentence, and how to use it in place of a recipe. Empty if the module is
// unknown.
std::string module_in_words(const std::string& module);

}  // namespace radl::driver

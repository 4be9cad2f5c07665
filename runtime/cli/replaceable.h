// Which modules of the standard library do what recipes of a program do by hand: pure.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/compile.h"

namespace radl::cli {

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

// One block of what a module does, and how it is used in place of a recipe; empty: the module is not known.
std::string module_in_words(const std::string& module);

}  // namespace radl::cli

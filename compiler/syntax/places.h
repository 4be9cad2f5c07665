// Clouds and zones in `radl 2`: the cloud of a `deploy`, and `cloud` and `availability_zone` of a system.
// Each is a string or a word that names the cloud or zone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl {

// The value as a single-line string: '${value}'. Drops comments. `tree`: holds the value's comments. nullopt
// if a string in the value spans several lines.
std::optional<std::string> quoted_place(const ast::Expr& value, const ast::Tree& tree);

// A word for a cloud or zone that is also the name of a `let` or an `each` variable in scope.
struct PlaceWord {
  const ast::String* word = nullptr;
  bool of_system = false;               // otherwise of a `deploy`
  bool of_each = false;                 // a variable of `each`; otherwise a `let`
  const ast::Name* declared = nullptr;  // the name in its declaration
};

// All in `tree`, in source order. `trees`: all files of the program or module; they share their `let`s.
std::vector<PlaceWord> place_words(const ast::Tree& tree, const std::vector<const ast::Tree*>& trees);

}  // namespace radl

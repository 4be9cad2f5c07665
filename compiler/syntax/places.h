// Clouds and zones of `radl 2`: the cloud of a `deploy`, and `cloud` and `availability_zone` of a system.
// Each is a word, which names the cloud or zone, or a string.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl {

// The value as a string of one line: '${value}'. Comments are dropped. `tree`: has the comments of the value.
// nullopt if a string in the value has several lines.
std::optional<std::string> quoted_place(const ast::Expr& value, const ast::Tree& tree);

// A word of a cloud or zone that is also the name of a `let` or of a variable of `each` in scope.
struct PlaceWord {
  const ast::String* word = nullptr;
  bool of_system = false;               // else of a `deploy`
  bool of_each = false;                 // the value is a variable of `each`, else a `let`
  const ast::Name* declared = nullptr;  // the value's name in its declaration
};

// Those of `tree`, in order of place. `trees`: all files of the program or module; they share their `let`s.
std::vector<PlaceWord> place_words(const ast::Tree& tree, const std::vector<const ast::Tree*>& trees);

}  // namespace radl

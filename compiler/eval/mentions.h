// What the files of an instance name anywhere, whether it is evaluated or not: in what `when` leaves out, in
// the branch that is not taken, inside an `each` that goes over nothing. What is named there is not unused.
#pragma once

#include <set>
#include <string_view>

#include "compiler/eval/instance.h"

namespace radl {

struct Mentions {
  std::set<std::string_view> inputs;      // input.NAME, but for the input's own block
  std::set<std::string_view> words;       // first words of references: values of `let`, among others
  std::set<std::string_view> deployed;    // systems that a `deploy` names
  std::set<std::string_view> configured;  // configures that an item gives to a system
  bool computed_input = false;            // input[expression]: any of them
};

Mentions mentions_in(const Instance& instance);

}  // namespace radl

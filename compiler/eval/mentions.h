// All names mentioned in an instance's files, evaluated or not: excluded by `when`, in an untaken branch,
// inside an `each` over nothing. A mentioned name is not unused.
#pragma once

#include <set>
#include <string_view>

#include "compiler/eval/instance.h"

namespace radl {

struct Mentions {
  std::set<std::string_view> inputs;      // input.NAME, except in the input's own block
  std::set<std::string_view> words;       // first words of references, for example names of `let`
  std::set<std::string_view> deployed;    // systems named by a `deploy`
  std::set<std::string_view> configured;  // configures that an item assigns to a system
  bool computed_input = false;            // input[expression]: may be any input
};

Mentions mentions_in(const Instance& instance);

}  // namespace radl

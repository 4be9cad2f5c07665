// @input.NAME@ of RADL 1 for `radlc fmt --upgrade`: where each stands, and what `radl 2` has in its place.
//
// RADL 1 puts the value into the text before it is read, so that it may be anything. Here it is read as what
// it stands for: a text between quotes, a number elsewhere, a size where the feature is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"

namespace radl::formatter {

struct Placeholder {
  enum class In : uint8_t { Text, Value, Recipe } in{};
  std::string name;
  uint32_t begin = 0, end = 0;  // with both @; of a value with its unit
  std::string unit;             // Value: the letters right behind it
  bool whole = false;           // Text: all of it
};

// In order of place; those in comments are none. Invalid where one is a part of a word, or has no name that
// an input can have.
Result<std::vector<Placeholder>> find_placeholders(const SourceFile& source);

// The source with something of the same length in their place that can be read: all other places stay.
std::string stand_in(const SourceFile& source, const std::vector<Placeholder>& placeholders);

struct Rewrite {
  uint32_t begin, end;
  std::string text;
};
// What replaces them, and the blocks that declare the inputs. `tree`: of the stand-in.
struct Inputs {
  std::vector<Rewrite> edits;
  std::string declarations;
};
Inputs as_inputs(const std::vector<Placeholder>& placeholders, const ast::Tree& tree);

}  // namespace radl::formatter

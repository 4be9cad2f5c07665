// @input.NAME@ of RADL 1 for `radlc fmt --upgrade`: finds each, and its `radl 2` equivalent.
//
// RADL 1 substitutes the value before parsing, so it may be any text. Here it is interpreted by its position:
// text between quotes, a number elsewhere, or a size if the feature is a size.
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
  uint32_t begin = 0, end = 0;  // including both @; for a value, including its unit
  std::string unit;             // Value: the letters right after it
  bool whole = false;           // Text: the whole text is the placeholder
};

// In source order, without those in comments. Invalid: one is part of a word, or its name is not valid for an
// input.
Result<std::vector<Placeholder>> find_placeholders(const SourceFile& source);

// The source with parsable text of the same length in their place, so that all other positions stay the same.
std::string stand_in(const SourceFile& source, const std::vector<Placeholder>& placeholders);

struct Rewrite {
  uint32_t begin, end;
  std::string text;
};
// Replacements, and the blocks that declare the inputs. `tree`: of the stand-in.
struct Inputs {
  std::vector<Rewrite> edits;
  std::string declarations;
};
Inputs as_inputs(const std::vector<Placeholder>& placeholders, const ast::Tree& tree);

}  // namespace radl::formatter

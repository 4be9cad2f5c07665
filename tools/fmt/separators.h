// `radlc fmt --upgrade`: `and` between features, as in RADL 1 and in the first surface of `radl 2`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"
#include "tools/fmt/placeholders.h"

namespace radl::formatter {

// The text with the edits, which may stand in any order; of those that overlap, the first. Begins at `from`.
std::string rewritten(std::string_view text, std::vector<Rewrite> edits, size_t from = 0);

// The text with `'${ }'` around each cloud and zone that it computes without quotes. That of a system was a
// value too if it is a single word with the name of a `let` or of a variable of `each`. A text with syntax
// errors stays.
std::string with_quoted_places(const SourceFile& source);

// The changes that make line ends and commas of every `and` between two entries of the tree, which was read
// from `text`. In no order.
std::vector<Rewrite> without_and(const ast::Tree& tree, std::string_view text);

// The text with commas and line ends instead: its tree says what the older one said. nullopt for a file that
// reads without errors as it is, or that the older surface did not take either.
std::optional<std::string> separated_by_lines(const SourceFile& source);

}  // namespace radl::formatter

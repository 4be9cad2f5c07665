// `radlc fmt --upgrade`: replaces `and` between features, as in RADL 1 and the older `radl 2`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"
#include "tools/fmt/placeholders.h"

namespace radl::formatter {

// Applies the edits to the text, in any order; of overlapping ones, the first. The text begins at `from`.
std::string rewritten(std::string_view text, std::vector<Rewrite> edits, size_t from = 0);

// Puts `'${ }'` around each cloud and zone computed without quotes. For a system, a single word was
// a value if a `let` or an `each` variable had that name. Leaves a text with syntax errors
// unchanged.
std::string with_quoted_places(const SourceFile& source);

// Edits that replace every `and` between two entries of the tree by line ends and commas. `text` is the
// tree's source. Unordered.
std::vector<Rewrite> without_and(const ast::Tree& tree, std::string_view text);

// The text with commas and line ends instead; its tree has the same meaning. nullopt if the file is already
// valid, or was not valid in the older syntax either.
std::optional<std::string> separated_by_lines(const SourceFile& source);

}  // namespace radl::formatter

// The type of an expression before a dot, as far as the text tells: a node, a system, or the declared type of
// an input. For completion and hover; works on unfinished texts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/lsp/answers.h"

namespace radl::lsp {

struct Holding {
  enum class What : uint8_t { Unknown, Node, System, Typed } what = What::Unknown;
  const ast::Expr* type = nullptr;  // Typed: as declared by the input
  const Analysis* in = nullptr;     // the analysis that contains `type`
};

// `path` is a name with members and indices, such as `input.users[0]`, at offset `at` of the document.
Holding holding_of(const Query& query, std::string_view path, uint32_t at);

struct Field {
  std::string name, type;
};
// The entries of an object type; empty for other types.
std::vector<Field> fields_of(const Holding& holding);

// Start of the path whose last part ends at `end`, such as the start of `input.users[0]`.
uint32_t path_begin(std::string_view text, uint32_t end);

}  // namespace radl::lsp

// What an expression in front of a dot holds, as far as the text says so: a node, a system, or a value of a
// type that an input declares. For completion and hover; works on texts that are still being written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/lsp/answers.h"

namespace radl::lsp {

struct Holding {
  enum class What : uint8_t { Unknown, Node, System, Typed } what = What::Unknown;
  const ast::Expr* type = nullptr;  // Typed: as the input declares it
  const Analysis* in = nullptr;     // of which `type` is a part
};

// `path` is a name with members and indices, such as `input.users[0]`, that stands at `at` in the document.
Holding holding_of(const Query& query, std::string_view path, uint32_t at);

struct Field {
  std::string name, type;
};
// The entries of an object; empty for all else.
std::vector<Field> fields_of(const Holding& holding);

// Where the path begins whose last part ends at `end`: in front of `input.users[0]`.
uint32_t path_begin(std::string_view text, uint32_t end);

}  // namespace radl::lsp

// The definitions of a file and the uses of each name: base of navigation, rename, highlighting and
// completion.
//
// Pure function of one tree. Names defined in another file (a module's outputs) are identified by the alias
// that they are accessed through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl::lsp {

enum class Space : uint8_t {
  Network,
  System,
  Ansible,
  Configure,
  Input,
  Output,
  Module,
  ModuleInput,   // a parameter given to a module: `container` is the alias
  ModuleOutput,  // alias.name: `container` is the alias
  Let,
  Variable,  // of an `each` or a comprehension: `scope` tells loops apart
  Other,     // EC3's general blocks, description
};
std::string_view space_name(Space space);  // "network", "input", ...

struct Definition {
  Space space{};
  std::string_view name;
  Span name_span;                     // only the name
  Span full_span;                     // the block
  const ast::Block* block = nullptr;  // null for a Variable, whose full_span is `each x in LIST`
  bool reference = false;             // `network n` without parentheses: refers to an existing one
  uint32_t scope = 0;                 // Variable: position of its name in the loop; else 0
  Span range{};                       // Variable: where it is visible
};

struct Occurrence {
  Space space{};
  std::string_view name;
  std::string_view container;  // ModuleInput, ModuleOutput
  Span span;
  bool definition = false;
  bool in_recipe = false;  // groups['name'] of an Ansible recipe
  uint32_t scope = 0;      // of the definition
};

struct SymbolIndex {
  std::vector<Definition> definitions;  // in source order
  std::vector<Occurrence> occurrences;  // in source order, including definitions

  // The first definition of the name.
  const Definition* find(Space space, std::string_view name) const;
  // The occurrence at or touching the offset: a cursor after the last letter counts.
  const Occurrence* at(uint32_t offset) const;
  std::vector<const Occurrence*> all(const Occurrence& like) const;

  std::vector<uint32_t> by_name;  // indices of definitions, sorted by space, name and position
};

SymbolIndex index_symbols(const ast::Tree& tree);

}  // namespace radl::lsp

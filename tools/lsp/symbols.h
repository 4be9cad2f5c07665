// What a file defines and where each name is used: the base of navigation, rename, highlighting and
// completion.
//
// Pure: from one tree. Names that another file defines (a module's outputs) keep the alias that they go
// through.
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
  Span name_span;                     // the name alone
  Span full_span;                     // the block
  const ast::Block* block = nullptr;  // null for a Variable, whose full_span is `each x in LIST`
  bool reference = false;             // `network n` without parentheses: stands for one that exists elsewhere
  uint32_t scope = 0;                 // Variable: where its name stands in the loop; else 0
  Span range{};                       // Variable: where it can be used
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
  std::vector<Definition> definitions;  // in order of place
  std::vector<Occurrence> occurrences;  // in order of place, definitions included

  // The first definition of the name.
  const Definition* find(Space space, std::string_view name) const;
  // The occurrence under or touching the offset: a cursor behind the last letter counts.
  const Occurrence* at(uint32_t offset) const;
  std::vector<const Occurrence*> all(const Occurrence& like) const;

  std::vector<uint32_t> by_name;  // indices of definitions, by space, name and place
};

SymbolIndex index_symbols(const ast::Tree& tree);

}  // namespace radl::lsp

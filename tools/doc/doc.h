// `radlc doc`: a page about a file, from the file itself.
#pragma once

#include <string>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl {

// Markdown: title and text from `description` and the comments at the head, then tables of inputs and
// outputs, systems, networks, recipes and the modules in use. `module_name`: as `use` would name it, for the
// example.
std::string document_file(const ast::Tree& tree, const std::string& module_name);

// An input as its block declares it; texts are as in the source.
struct DeclaredInput {
  std::string name, type, description;
  std::string values;  // of `one_of`: "['a', 'b']"; empty: none
};
std::vector<DeclaredInput> declared_inputs(const ast::Tree& tree);

// The comment lines directly above a place, without their `#`; "" when there are none. Markdown.
std::string comment_above(const ast::Tree& tree, uint32_t offset);

}  // namespace radl

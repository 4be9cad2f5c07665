// `radlc doc`: generates a page about a file from the file itself.
#pragma once

#include <string>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl {

// Markdown: title and text from `description` and the comments at the top, then tables of inputs and
// outputs, systems, networks, recipes and used modules. `module_name`: as in a `use`, for the
// example.
std::string document_file(const ast::Tree& tree, const std::string& module_name);

// An input as declared; texts are as in the source.
struct DeclaredInput {
  std::string name, type, description;
  std::string values;  // of `one_of`: "['a', 'b']"; empty: none
};
std::vector<DeclaredInput> declared_inputs(const ast::Tree& tree);

// The comment lines directly above a position, without their `#`; "" if there are none. Markdown.
std::string comment_above(const ast::Tree& tree, uint32_t offset);

}  // namespace radl

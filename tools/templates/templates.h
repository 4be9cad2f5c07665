// `radlc templates list`: what EC3's `description` blocks say about the files of a folder.
#pragma once

#include <string>
#include <vector>

#include "compiler/syntax/ast.h"

namespace radl {

struct Template {
  std::string path;
  std::string name;     // description's name; else its id, else the file's stem
  std::string kind;     // "component", "main", "images"; "" when it does not say
  std::string summary;  // description's short
  std::string content;
  bool readable = true;  // false: syntax errors
};

// One file. `path` is only carried over.
Template describe_template(const ast::Tree& tree, const std::string& path);

// Files and folders (their *.radl, recursively) in order of kind (main, component, images, none), then name.
// A file that cannot be read is in the list with `readable` false.
std::vector<Template> list_templates(const std::vector<std::string>& paths);

}  // namespace radl

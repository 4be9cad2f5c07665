// EC3's `include NAME (template = 'one two')`: finds and orders the included templates.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl::ec3 {

// The folders to search: those of the given and included files, their `templates/` subfolders, then the
// module path.
class TemplateFolders {
 public:
  explicit TemplateFolders(std::vector<std::string> module_path) : module_path_(std::move(module_path)) {}
  void add_file(const std::string& path);
  // Path of the named file, or nullopt. Searches the folder of the file `beside` first.
  std::optional<std::string> find(const std::string& name, const std::string& beside) const;

 private:
  std::vector<std::string> folders_, module_path_;
};

// Reads and parses the file at `path`, and keeps it. Reports an error and returns null if it cannot be read.
using ReadTemplate = std::function<std::unique_ptr<ast::Tree>(const std::string& path, Span from)>;

// Name of a template: its file name without `.radl`.
std::string template_name(const std::string& path);

// Removes templates that were given more than once.
void drop_repeated(std::vector<std::unique_ptr<ast::Tree>>& trees);

// Appends the included templates to `trees` like EC3: each template once, level by level, after the given
// ones. If two includes have the same name, the later one counts.
void follow_includes(std::vector<std::unique_ptr<ast::Tree>>& trees, TemplateFolders& folders,
                     const ReadTemplate& read, Diagnostics& diagnostics);

}  // namespace radl::ec3

// EC3's `include NAME (template = 'one two')`: which templates are read, and in which order.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl::ec3 {

// Where templates lie: the folders of the files that were given or included, `templates/` in them, then the
// module path.
class TemplateFolders {
 public:
  explicit TemplateFolders(std::vector<std::string> module_path) : module_path_(std::move(module_path)) {}
  void add_file(const std::string& path);
  // The path of a file of that name, or nullopt. `beside`: a file in whose folder it is looked for first.
  std::optional<std::string> find(const std::string& name, const std::string& beside) const;

 private:
  std::vector<std::string> folders_, module_path_;
};

// Reads and parses the file at `path`, and keeps it; null when it cannot be read (which is reported).
using ReadTemplate = std::function<std::unique_ptr<ast::Tree>(const std::string& path, Span from)>;

// What a template is called: its file without `.radl`.
std::string template_name(const std::string& path);

// Takes out templates that were given more than once.
void drop_repeated(std::vector<std::unique_ptr<ast::Tree>>& trees);

// Adds to `trees` what they include, as EC3 does: each template once, level by level, behind all that were
// given. Of two includes of one name the later says what is included.
void follow_includes(std::vector<std::unique_ptr<ast::Tree>>& trees, TemplateFolders& folders,
                     const ReadTemplate& read, Diagnostics& diagnostics);

}  // namespace radl::ec3

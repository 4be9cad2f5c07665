// EC3's composition: the templates of a cluster become the one document that `ec3 launch` would send to the
// Infrastructure Manager (docs/decisions/0007-ec3-dialect.md has the rules).
//
// In: the trees of RADL 1 files or of EC3's templates, in the order in which they are put together. Out: one
// tree in their place, in which each block is defined once, recipes are joined and in order, and nothing is
// left of `ec3_inherit_from`, `ec3_append`, `ec3_prio`, `ec3_file`, `ec3_xpath` and `ec3_jpath`. What EC3
// refuses is reported.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/syntax/ast.h"

namespace radl::ec3 {

struct Composition {
  // The templates that were given by name, as EC3 notes them; the others were included. One alone may be a
  // part of a cluster: what it does not say is left open.
  std::vector<std::string> given;
  bool open = false;  // files of `radl 2` belong to the document as well
  // The text of a file that lies beside the templates (`ec3_file`); nullopt when there is none.
  std::function<std::optional<std::string>(std::string_view name)> read_file;
};

// The document. It shares nodes with the trees, which must outlive it.
std::unique_ptr<ast::Tree> compose(const std::vector<std::unique_ptr<ast::Tree>>& trees,
                                   const Composition& composition, Diagnostics& diagnostics);

}  // namespace radl::ec3

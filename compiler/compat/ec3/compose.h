// EC3's composition: merges the templates of a cluster into the document that `ec3 launch` would
// send to the Infrastructure Manager (docs/decisions/0007-ec3-dialect.md has the rules).
//
// In: the trees of RADL 1 files or of EC3's templates, in the order of composition. Out: one
// tree that defines each block once, with recipes joined and ordered and without
// `ec3_inherit_from`, `ec3_append`, `ec3_prio`, `ec3_file`, `ec3_xpath` and `ec3_jpath`. Reports
// what EC3 rejects.
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
  // The templates given by name, as EC3 records them; the others were included. A single template may be part
  // of a cluster, so names that it does not define stay open.
  std::vector<std::string> given;
  bool open = false;  // the document also includes files of `radl 2`
  // Returns the text of a file beside the templates (`ec3_file`); nullopt if missing.
  std::function<std::optional<std::string>(std::string_view name)> read_file;
};

// Composes the document. It shares nodes with the trees, which must outlive it.
std::unique_ptr<ast::Tree> compose(const std::vector<std::unique_ptr<ast::Tree>>& trees,
                                   const Composition& composition, Diagnostics& diagnostics);

}  // namespace radl::ec3

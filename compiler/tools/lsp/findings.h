// What parser and checker say about one document.
#pragma once

#include <nlohmann/json.hpp>

#include "compiler/diag/diagnostic.h"
#include "compiler/tools/lsp/workspace.h"

namespace radl::lsp {

struct Findings {
  SourceMap sources;        // the document, and the modules that were read for it
  Diagnostics diagnostics;  // sorted
  uint32_t file = 0;        // the document's id in `sources`
};

// Parses and checks the text of `analysis` as `radlc check` would check the file.
Findings find_all(Workspace& workspace, const Analysis& analysis);

nlohmann::json finding_json(const Workspace& workspace, const Analysis& analysis, const Findings& findings,
                            const Diagnostic& finding);

}  // namespace radl::lsp

// Diagnostics as text for people and JSON for programs.
#pragma once

#include <string>

#include "compiler/diag/diagnostic.h"

namespace radl {

struct RenderOptions {
  bool color = false;
  bool context = true;  // source line and caret
  int tab_width = 4;
};

// error[E0101]: unexpected `=`
//   --> file.radl:3:14
//    |
//  3 |  memory.size = 1G
//    |              ^ expected `and` or `)`
//    = help: ...
std::string render_text(const Diagnostics& diagnostics, const SourceMap& sources,
                        const RenderOptions& options = {});
std::string render_text(const Diagnostic& diagnostic, const SourceMap& sources,
                        const RenderOptions& options = {});
// "2 errors and 1 warning"; "" if there are none.
std::string summary(const Diagnostics& diagnostics);
// {"schema": 1, "diagnostics": [{code, severity, phase, message, file, line, column, end_line, end_column,
// label, help, notes, fixes}], "errors": n, "warnings": n}; columns count code points from 1.
std::string render_json(const Diagnostics& diagnostics, const SourceMap& sources);
// `radlc explain E0123`.
std::string explain(const CodeInfo& code);

}  // namespace radl

// `radlc check`: files and folders in, findings out, in the forms that people, CI systems and editors read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"

namespace radl {

struct CheckRequest {
  std::vector<std::string>
      paths;              // files, "-", folders (their *.radl, recursively; hidden ones are left out)
  bool together = false;  // all files are one document, as for plan; otherwise each is one
  // -W arguments: "error", "error=W0307", "no-error=W0307", "no-W0307", "W0307", "none". Later ones win.
  std::vector<std::string> warnings;
  CompileOptions compile;  // whether inputs may be missing is decided for each file
};

// One document and what was found in it.
struct CheckedDocument {
  std::vector<std::string> paths;
  SourceMap sources;
  Diagnostics diagnostics;  // sorted
};

struct CheckReport {
  std::vector<std::unique_ptr<CheckedDocument>> documents;
  // Files that name what others of them define, and are sound as one document: whoever checks them one by one
  // wants to know of --together.
  bool fit_together = false;
  size_t errors() const;
  size_t warnings() const;
};

// Invalid for a wrong -W argument; NotFound when a folder holds no .radl file. A file that cannot be read is
// a finding.
Result<CheckReport> check(const CheckRequest& request);

// Does the file need values from outside: an `input` without default, or @input.NAME@? Then it is compiled
// with CompileOptions::inputs_may_be_missing, and findings about what nothing uses are left out.
bool asks_for_inputs(const ast::Tree& tree);

// The .radl files that paths name, in order; folders are replaced by their files.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths);

// What several documents find in a module that they share is reported once.
std::string render_text(const CheckReport& report, const RenderOptions& options);
std::string render_json(const CheckReport& report);  // as render_json of one document, lists joined
std::string render_sarif(const CheckReport& report, const std::string& version);  // SARIF 2.1.0
std::string render_github(const CheckReport& report);  // workflow commands: ::error file=..,line=..::message
// One line: "3 files: 2 errors and 1 warning".
std::string summary(const CheckReport& report);

}  // namespace radl

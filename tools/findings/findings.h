// `radlc check`: checks files and folders, and reports findings for people, CI systems and editors.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/compile.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/diag/render.h"
#include "compiler/source/source.h"

namespace radl {

struct FindingsRequest {
  std::vector<std::string>
      paths;              // files, "-", folders (their *.radl files, recursively, but without hidden ones)
  bool together = false;  // all files form one document, as for plan; otherwise each is its own
  // -W arguments: "error", "error=W0307", "no-error=W0307", "no-W0307", "W0307", "none". Later ones win.
  std::vector<std::string> warnings;
  CompileOptions compile;  // always allows missing inputs
};

// One document and its findings.
struct DocumentFindings {
  std::vector<std::string> paths;
  SourceMap sources;
  Diagnostics diagnostics;  // sorted
};

struct FindingsReport {
  std::vector<std::unique_ptr<DocumentFindings>> documents;
  // True if files refer to definitions in other files of the request and are valid as one document. A hint
  // then suggests --together.
  bool fit_together = false;
  size_t errors() const;
  size_t warnings() const;
};

// Invalid: a wrong -W argument. NotFound: a folder without .radl files. An unreadable file is a
// finding.
Result<FindingsReport> findings_of(const FindingsRequest& request);

// The .radl files named by the paths, in order; folders are replaced by their files.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths);

// Reports a finding in a module shared by several documents once.
std::string render_text(const FindingsReport& report, const RenderOptions& options);
std::string render_json(const FindingsReport& report);  // the format for one document, with joined lists
std::string render_sarif(const FindingsReport& report, const std::string& version);  // SARIF 2.1.0
std::string render_github(
    const FindingsReport& report);  // workflow commands: ::error file=..,line=..::message
// One line: "3 files: 2 errors and 1 warning".
std::string summary(const FindingsReport& report);

}  // namespace radl

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

namespace radl {

struct FindingsRequest {
  std::vector<std::string>
      paths;              // files, "-", folders (their *.radl, recursively; hidden ones are left out)
  bool together = false;  // all files are one document, as for plan; otherwise each is one
  // -W arguments: "error", "error=W0307", "no-error=W0307", "no-W0307", "W0307", "none". Later ones win.
  std::vector<std::string> warnings;
  CompileOptions compile;  // inputs may be missing whatever it says
};

// One document and what was found in it.
struct DocumentFindings {
  std::vector<std::string> paths;
  SourceMap sources;
  Diagnostics diagnostics;  // sorted
};

struct FindingsReport {
  std::vector<std::unique_ptr<DocumentFindings>> documents;
  // Files that name what others of them define, and are sound as one document: whoever checks them one by one
  // wants to know of --together.
  bool fit_together = false;
  size_t errors() const;
  size_t warnings() const;
};

// Invalid for a wrong -W argument; NotFound when a folder holds no .radl file. A file that cannot be read is
// a finding.
Result<FindingsReport> findings_of(const FindingsRequest& request);

// The .radl files that paths name, in order; folders are replaced by their files.
Result<std::vector<std::string>> expand_paths(const std::vector<std::string>& paths);

// What several documents find in a module that they share is reported once.
std::string render_text(const FindingsReport& report, const RenderOptions& options);
std::string render_json(const FindingsReport& report);  // as render_json of one document, lists joined
std::string render_sarif(const FindingsReport& report, const std::string& version);  // SARIF 2.1.0
std::string render_github(
    const FindingsReport& report);  // workflow commands: ::error file=..,line=..::message
// One line: "3 files: 2 errors and 1 warning".
std::string summary(const FindingsReport& report);

}  // namespace radl

// Findings of the parser and the checker for one document.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "tools/lsp/workspace.h"

namespace radl::lsp {

// Input of a check, complete, so that it can run on another thread than the workspace's.
struct CheckJob {
  AnalysisPtr analysis;             // of the document
  std::vector<AnalysisPtr> others;  // the other open documents, including unsaved changes
  std::map<std::string, std::string> environment;
  std::vector<std::string> module_path, image_schemes;
  Encoding encoding = Encoding::Utf16;
};

CheckJob check_job(Workspace& workspace, OpenDocument& document);

struct Findings {
  AnalysisPtr analysis;  // the text that was checked
  Encoding encoding = Encoding::Utf16;
  SourceMap sources;        // the document, and the modules that were read for it
  Diagnostics diagnostics;  // sorted
  uint32_t file = 0;        // the document's id in `sources`

  // True if this file was read for the check.
  bool read(const std::string& path) const { return sources.find(std::string_view(path)) != nullptr; }
};

// Parses and checks the text like `radlc check`. Accesses only the job and the disk.
FindingsPtr find_all(const CheckJob& job);

// As LSP diagnostics.
nlohmann::json finding_json(const Findings& findings, const Diagnostic& finding);
nlohmann::json findings_json(const Findings& findings);

}  // namespace radl::lsp

// Every text the server knows: open documents as the editor has them, other files as they lie on the disk.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/stop.h"
#include "compiler/eval/library.h"
#include "tools/lsp/analysis.h"
#include "tools/lsp/document.h"

namespace radl::lsp {

struct Findings;  // findings.h
using FindingsPtr = std::shared_ptr<const Findings>;

struct OpenDocument {
  Document document;
  AnalysisPtr current;    // of the document's text; null until asked for after a change
  AnalysisPtr last_good;  // the last one without syntax errors; may be null
  FindingsPtr findings;   // of `current`; null until it is checked
  bool unchecked = true;  // a check is due
};

class Workspace {
 public:
  static constexpr size_t kMostFiles = 2000;  // of a folder's *.radl that are looked at
  static constexpr size_t kMostFileBytes = 16u << 20;

  // `search`: as for the compiler; its `project` is not used, each file has its own. `environment`: the
  // process's.
  Workspace(SearchPath search, std::map<std::string, std::string> environment)
      : search_(std::move(search)), environment_(std::move(environment)) {}

  Encoding encoding = Encoding::Utf16;
  std::vector<std::string> image_schemes;  // as for the compiler

  void set_roots(std::vector<std::string> roots) { roots_ = std::move(roots); }
  const std::vector<std::string>& roots() const { return roots_; }

  OpenDocument& open(const std::string& uri, int version, std::string text);
  void close(const std::string& uri);
  OpenDocument* find(const std::string& uri);
  std::map<std::string, OpenDocument>& documents() { return documents_; }

  // The document as it is now, parsed.
  AnalysisPtr analyse(OpenDocument& document);
  // A file by path: the open document if there is one, else what is on the disk (read again when it changed).
  // Null when it cannot be read.
  AnalysisPtr file(const std::string& path);
  const SearchPath& search() const { return search_; }
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // The file that `use 'NAME'` in `from` means; nullopt when there is none.
  std::optional<std::string> module_path(const std::string& name, const std::string& from) const;
  // Names that `use` could take in `from`: standard library, modules/, files beside it.
  std::vector<std::string> module_names(const std::string& from) const;
  // Why a file is not to be edited: it is of the standard library, or of a package that `radlc vendor`
  // brought; "" for all others.
  std::string not_to_edit(const std::string& path) const;
  // All *.radl below the roots and all open documents. Ends early when it is time to stop.
  std::vector<AnalysisPtr> everything(const Stop& stop);

 private:
  struct OnDisk {
    int64_t changed = 0;
    uint64_t size = 0;
    AnalysisPtr analysis;
  };

  SearchPath search_;
  std::map<std::string, std::string> environment_;
  std::vector<std::string> roots_;
  std::map<std::string, OpenDocument> documents_;  // by URI
  std::map<std::string, OnDisk> files_;            // by path
};

}  // namespace radl::lsp

// All texts that the server knows: open documents as in the editor, other files from disk.
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
  AnalysisPtr current;    // of the document's text; null after a change until requested
  AnalysisPtr last_good;  // the last one without syntax errors; may be null
  FindingsPtr findings;   // of `current`; null until it is checked
  bool unchecked = true;  // a check is due
};

class Workspace {
 public:
  static constexpr size_t kMostFiles = 2000;  // maximum number of *.radl files read in a folder
  static constexpr size_t kMostFileBytes = 16u << 20;

  // `search`: as for the compiler, but each file has its own `project`. `environment`: the process's.
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

  // Returns the current document, parsed.
  AnalysisPtr analyse(OpenDocument& document);
  // Returns a file by path: the open document, else the file on disk, read again if it has changed. Null if
  // it cannot be read.
  AnalysisPtr file(const std::string& path);
  const SearchPath& search() const { return search_; }
  const std::map<std::string, std::string>& environment() const { return environment_; }
  // Returns the file that `use 'NAME'` in `from` refers to; nullopt if there is none.
  std::optional<std::string> module_path(const std::string& name, const std::string& from) const;
  // Returns the names that `use` accepts in `from`: standard library, modules/, files beside it.
  std::vector<std::string> module_names(const std::string& from) const;
  // Returns why a file must not be edited: it belongs to the standard library, or to a package from `radlc
  // vendor`. "" for all others.
  std::string not_to_edit(const std::string& path) const;
  // Returns all *.radl files below the roots and all open documents. Ends early on `stop`.
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

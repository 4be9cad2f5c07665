// Finds and loads modules.
//
// `use 'PATH'`: a PATH that begins with ./ or ../ is relative to the file with the `use`. Any other is
// searched in `modules/` of the project (the folder of the first file of the command line), in the folders of
// the module path, and in the standard library, whose modules begin with `std/`. The file is PATH.radl. An
// address (common/modules/address.h) refers to a package fetched by `radlc vendor`. Fetches nothing.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/vendored.h"
#include "compiler/source/source.h"
#include "compiler/syntax/ast.h"

namespace radl {

struct SearchPath {
  std::string project;               // folder of the first file
  std::vector<std::string> folders;  // CompileOptions::module_path
  std::string standard_library;      // folder with training/, data/, ...; may be empty
};

// The folder of the standard library: `RADL_STDLIB` if set, else ../share/radlc/stdlib relative to the
// program's folder. Empty if there is none.
std::string standard_library_folder(const std::map<std::string, std::string>& environment);

// NotFound lists the searched places. For an address, returns the vendored file without verifying it.
Result<std::string> find_module(std::string_view name, std::string_view importing_file,
                                const SearchPath& search);
// All modules that `use` can name without a relative path, sorted. For completion and suggestions.
std::vector<std::string> list_modules(const SearchPath& search);
// Appends the modules below a folder, each with the prefix.
void list_folder(const std::string& folder, const std::string& prefix, std::vector<std::string>& names);

// Parses each module file once and keeps its tree.
class ModuleLibrary {
 public:
  ModuleLibrary(SourceMap& sources, Diagnostics& diagnostics, SearchPath search)
      : sources_(sources),
        diagnostics_(diagnostics),
        search_(std::move(search)),
        vendored_(search_.project, true) {}

  // Returns nullptr after a report. A file with syntax errors is reported once.
  const ast::Tree* load(const ast::String& name, const SourceFile& importing);
  const SearchPath& search() const { return search_; }
  // Module files in order of first use.
  const std::vector<const SourceFile*>& files() const { return files_; }
  // For each file of the standard library and vendored packages: the user's line that first loaded it.
  const std::map<uint32_t, Span>& uses() const { return uses_; }

 private:
  SourceMap& sources_;
  Diagnostics& diagnostics_;
  // "" after a report.
  std::string path_of(const ast::String& name, const SourceFile& importing);
  std::string vendored_path(const ast::String& name, const SourceFile& importing);
  void note_use(const SourceFile& made, const ast::String& name, const SourceFile& importing);

  SearchPath search_;
  VendoredModules vendored_;
  std::map<std::string, std::unique_ptr<ast::Tree>> trees_;  // by path
  std::vector<const SourceFile*> files_;
  std::map<uint32_t, Span> uses_;
};

}  // namespace radl

// Properties of native resources: values of the language to JSON of the IR, by the schema.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "common/own_folders.h"
#include "compiler/diag/diagnostic.h"
#include "compiler/eval/value.h"
#include "compiler/resources/resource_schema.h"

namespace radl::passes {

// What a folder of this computer comes to.
struct FolderSum {
  std::string digest;  // as docs/ir.md says ("Local files")
  uint64_t files = 0, bytes = 0;
  uint64_t ignored_files = 0, ignored_folders = 0;  // of the folders themselves: they are not entered
};
Result<FolderSum> sum_folder(const std::string& path, const Contents& contents);

// Digests of files and folders of this computer, each computed once.
class LocalFiles {
 public:
  // `cache`: where digests of datasets are noted (common/dataset_digest.h); "": nowhere.
  explicit LocalFiles(std::string cache) : cache_(std::move(cache)) {}
  // Of a file's bytes, or of a whole folder.
  Result<std::string> digest(const std::string& path);
  // Of a folder of sources, less what the patterns leave out; `rules`: of those patterns.
  const Result<FolderSum>& sources(const std::string& path, const std::vector<std::string>& patterns,
                                   const IgnoreRules& rules);
  // Of a dataset's files (common/dataset_digest.h).
  Result<std::string> dataset_digest(const std::string& path);

 private:
  const std::string cache_;
  std::map<std::string, Result<std::string>> known_;
  std::map<std::pair<std::string, std::vector<std::string>>, Result<FolderSum>> sources_;
  std::map<std::string, Result<std::string>> datasets_;
};

struct PropertyContext {
  Diagnostics& diagnostics;
  LocalFiles& files;
  ir::Secrets& secrets;
  std::function<std::string(uint32_t file)> folder_of;  // of a source file: local paths are relative to it
  std::string place;  // beginning of the names of secrets: "tools file '/etc/motd'"
  std::function<std::vector<std::string>(const std::string& system)> nodes_of;
};

// Puts the property (and NAME_sha256 of a local path) into `into`; reports what does not fit at `at`.
void set_property(const PropertyContext& context, const ir::Property& property, const expr::Value& value,
                  Span at, ir::Json& into);

// Whether the value can be the property's: its kind, its range, one of its words. Places are not looked at.
// Reports at `at`.
bool fits_property(const ir::Property& property, const expr::Value& value, Span at, Diagnostics& diagnostics);

// Absolute and tidy.
std::string absolute_path(const std::string& folder, const std::string& path);

}  // namespace radl::passes

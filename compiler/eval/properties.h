// Converts the properties of native resources from language values to IR JSON, by the schema.
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

// The digest and size of a local folder.
struct FolderSum {
  std::string digest;  // format: docs/ir.md, "Local files"
  uint64_t files = 0, bytes = 0;
  uint64_t ignored_files = 0, ignored_folders = 0;  // counts ignored folders themselves, not their content
};
Result<FolderSum> sum_folder(const std::string& path, const Contents& contents);

// Digests of local files and folders, each computed once.
class LocalFiles {
 public:
  // `cache`: folder for cached dataset digests (common/dataset_digest.h); "": no cache.
  explicit LocalFiles(std::string cache) : cache_(std::move(cache)) {}
  // Digest of a file's bytes, or of a whole folder.
  Result<std::string> digest(const std::string& path);
  // Digest of a source folder without the files that `patterns` exclude. `rules`: the compiled patterns.
  const Result<FolderSum>& sources(const std::string& path, const std::vector<std::string>& patterns,
                                   const IgnoreRules& rules);
  // Digest of a dataset's files (common/dataset_digest.h).
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
  std::function<std::string(uint32_t file)> folder_of;  // folder of a source file: base of relative paths
  std::string place;  // prefix for the names of secrets: "tools file '/etc/motd'"
  std::function<std::vector<std::string>(const std::string& system)> nodes_of;
};

// Sets the property (and NAME_sha256 for a local path) in `into`. Reports an invalid value at `at`.
void set_property(const PropertyContext& context, const ir::Property& property, const expr::Value& value,
                  Span at, ir::Json& into);

// True if the value suits the property: kind, range, allowed words. Does not check that places exist. Reports
// at `at`.
bool fits_property(const ir::Property& property, const expr::Value& value, Span at, Diagnostics& diagnostics);

// Returns an absolute, normalized path.
std::string absolute_path(const std::string& folder, const std::string& path);

}  // namespace radl::passes

// A folder's content as a text and a digest, in the format of docs/ir.md, "Local files".
#pragma once

#include <string>
#include <vector>

#include "common/own_folders.h"
#include "common/status.h"

namespace radl {

struct ManifestEntry {
  std::string mode;    // four octal digits, or "link"
  std::string sha256;  // of the content, or of a link's target
  std::string path;    // relative to the folder
  std::string target;  // for a link
};

// Regular files and symbolic links below a folder, sorted by path. Other kinds (sockets, pipes) are an error,
// and are skipped for sources.
Result<std::vector<ManifestEntry>> local_manifest(const std::string& folder, const Contents& contents = {});
// All its entries including folders, relative to it, each after its parent folder.
Result<std::vector<std::string>> parts_of(const std::string& folder, const Contents& contents);
std::string manifest_text(const std::vector<ManifestEntry>& entries);
// SHA-256 of a file's content, or of a folder's manifest text.
Result<std::string> path_digest(const std::string& path, const Contents& contents = {});

}  // namespace radl

// A folder's content as one text and one digest: the form that docs/ir.md defines under "Local files".
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
  std::string target;  // of a link
};

// Regular files and symbolic links below a folder, sorted by path. Other kinds of file (sockets, pipes) are
// an error, and no part of sources.
Result<std::vector<ManifestEntry>> local_manifest(const std::string& folder, const Contents& contents = {});
// All that is part of it, folders included, relative to it and each behind the folder that it is in.
Result<std::vector<std::string>> parts_of(const std::string& folder, const Contents& contents);
std::string manifest_text(const std::vector<ManifestEntry>& entries);
// SHA-256 of a file's content, or of a folder's manifest text.
Result<std::string> path_digest(const std::string& path, const Contents& contents = {});

}  // namespace radl

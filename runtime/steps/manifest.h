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
Result<std::vector<ManifestEntry>> local_manifest(const std::string& folder, Holding holding = Holding::All);
// What in it is no part of it, relative to it.
Result<std::vector<std::string>> left_out_of(const std::string& folder, Holding holding);
std::string manifest_text(const std::vector<ManifestEntry>& entries);
// SHA-256 of a file's content, or of a folder's manifest text.
Result<std::string> path_digest(const std::string& path, Holding holding = Holding::All);

}  // namespace radl

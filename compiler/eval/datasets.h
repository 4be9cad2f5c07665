// Interprets a dataset's text: a known name, or a place (common/dataset_files.h).
#pragma once

#include <string>

#include "common/status.h"
#include "compiler/eval/properties.h"
#include "compiler/ir/ir.h"

namespace radl::passes {

// Resolves a place relative to a source file's folder: an absolute path ('~/' is the user's home), or the URI
// unchanged.
std::string dataset_location(const std::string& place, const std::string& folder);

// Sets `key` (absolute path or URI) and, for a path, KEY_sha256 (content_digest) in `into`.
Status set_dataset_location(LocalFiles& files, const std::string& place, const std::string& folder,
                            const std::string& key, ir::Json& into);

// The dataset's default folder on the nodes. For a place: its name and six digits of its SHA-256, so that
// places with the same name do not collide.
std::string dataset_directory(const std::string& dataset);

// Invalid if radlc cannot fetch the name and (with a directory on the nodes) the engine cannot read it. The
// error has a hint if a file or folder of this name exists beside the source.
Status check_dataset_name(const std::string& name, bool has_directory, const std::string& folder);

}  // namespace radl::passes

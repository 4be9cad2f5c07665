// What the text of a dataset means: one that is known by its name, or a place (common/dataset_files.h).
#pragma once

#include <string>

#include "common/status.h"
#include "compiler/eval/properties.h"
#include "compiler/ir/ir.h"

namespace radl::passes {

// Where a place lies, seen from a source file's folder: an absolute path ('~/' is the user's home), or a URI
// as it is.
std::string dataset_location(const std::string& place, const std::string& folder);

// Puts `key` (absolute path or URI) and, of a path, KEY_sha256 (content_digest) into `into`.
Status set_dataset_location(LocalFiles& files, const std::string& place, const std::string& folder,
                            const std::string& key, ir::Json& into);

// Where a dataset lies on the nodes when the program does not say: of a place the name and six digits of its
// SHA-256, so that two places of one name do not meet there.
std::string dataset_directory(const std::string& dataset);

// Invalid for a name that neither radlc can bring nor, with a directory on the nodes, the engine can read;
// with a hint when a file or folder of this name lies beside the source.
Status check_dataset_name(const std::string& name, bool has_directory, const std::string& folder);

}  // namespace radl::passes

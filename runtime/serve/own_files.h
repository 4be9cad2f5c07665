// Files in responses of the own API: results, uploads and task outputs.
#pragma once

#include <string>

#include "common/http_server/server.h"
#include "runtime/state/snapshot.h"

namespace radl::serve {

// [{"path", "bytes"}] of the regular files below a folder, by path; [] without a folder. Omits links.
// `hidden`: includes files whose names begin with a dot, which are radlc's own among results.
Json files_below(const std::string& folder, bool hidden);
// The file as a download. 404 if a part of `path` begins with a dot or is a link, or if it is not a regular
// file.
httpd::Answer download_of(const std::string& folder, const std::string& path);

}  // namespace radl::serve

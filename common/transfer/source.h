// Data wherever it lies, by its URI: a path or file://, http(s)://, object stores (common/store_address.h),
// webhdfs:// and swebhdfs:// [USER@]HOST:PORT/PATH. One way to list and to fetch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "common/transfer/download.h"

namespace radl::transfer {

// Bytes that have come, and all that there are (0: not known). Called from one thread at a time.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct SourceFile {
  std::string name;  // below the folder that was listed, with '/' between
  uint64_t size = 0;
  std::string version;  // changes with the content (ETag, time); "" when the server tells none
};

// All files below a folder, in the order of their names. Unsupported for http(s), which has no listing.
Result<std::vector<SourceFile>> list_files(http::Client& http, const std::string& uri, const Stop& stop = {});
// One file to what.path (what.url is ignored); resumable.
Status fetch_file(http::Client& http, const std::string& uri, Download what);
// The folder's files below `folder`; with names only those, and one that is missing is left out (http has no
// listing). Several at a time. FOLDER/.radl-source.json keeps what version of each was brought: only what has
// changed since is fetched again, and files missing at the source are removed. NotFound if none exists.
Status fetch_folder(http::Client& http, const std::string& uri, const std::string& folder,
                    const std::vector<std::string>& names, const Stop& stop = {},
                    const Progress& progress = {});
// One file to FOLDER/NAME, with the same note of its version.
Status fetch_one(http::Client& http, const std::string& uri, const std::string& folder,
                 const std::string& name, const Stop& stop = {}, const Progress& progress = {});

// A folder's files below a URI, several at a time (files and folders whose names begin with a dot do not
// count: dataset_files.h). Unsupported for http(s).
Status send_folder(http::Client& http, const std::string& folder, const std::string& uri,
                   const Stop& stop = {});

}  // namespace radl::transfer

// Data sources by URI: a path or file://, http(s)://, object stores (common/store_address.h), webhdfs:// and
// swebhdfs:// [USER@]HOST:PORT/PATH. One interface to list and fetch.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "common/transfer/download.h"

namespace radl::transfer {

// Bytes received, and total (0: unknown). Called from one thread at a time.
using Progress = std::function<void(uint64_t done, uint64_t total)>;

struct SourceFile {
  std::string name;  // below the listed folder, with '/' as separator
  uint64_t size = 0;
  std::string version;  // changes with the content (ETag, time); "" if the server gives none
};

// All files below a folder, sorted by name. Unsupported for http(s), which has no listing.
Result<std::vector<SourceFile>> list_files(http::Client& http, const std::string& uri, const Stop& stop = {});
// Fetches one file to what.path (what.url is ignored). Resumable.
Status fetch_file(http::Client& http, const std::string& uri, Download what);
// Fetches the folder's files below `folder`, several at a time. With names, fetches only those and skips
// missing ones (http has no listing). FOLDER/.radl-source.json records the version of each file: the next
// call fetches only changed files and removes those missing at the source. NotFound if none exists.
Status fetch_folder(http::Client& http, const std::string& uri, const std::string& folder,
                    const std::vector<std::string>& names, const Stop& stop = {},
                    const Progress& progress = {});
// Fetches one file to FOLDER/NAME, and records its version in the same way.
Status fetch_one(http::Client& http, const std::string& uri, const std::string& folder,
                 const std::string& name, const Stop& stop = {}, const Progress& progress = {});

// Sends a folder's files below a URI, several at a time (files and folders whose names begin with a dot do
// not count: dataset_files.h). Unsupported for http(s).
Status send_folder(http::Client& http, const std::string& folder, const std::string& uri,
                   const Stop& stop = {});

}  // namespace radl::transfer

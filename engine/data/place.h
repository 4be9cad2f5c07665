// Maps any dataset location that a user may name to a local path.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

struct PlaceOptions {
  std::string format;  // as OpenOptions::name; needed for HTTP, which has no listing
  std::function<void(const std::string& line)> say;
  std::function<void(uint64_t done, uint64_t total)> progress;  // fetched bytes; total 0: unknown
  Stop stop;
};

// Returns a path unchanged. Fetches a remote dataset (http, https, s3, webhdfs, swebhdfs: a folder, or a
// single archive, CSV or packed file) to the user's cache and unpacks an archive there, each once, in one
// process at a time.
Result<std::string> local_place(const std::string& place, const PlaceOptions& options = {});

// For a URI: whether it names an archive, a CSV or a packed file; whether it can be listed; and if not, the
// file names of a format ("": of any) below it.
bool is_one_file(const std::string& uri);
bool has_listing(const std::string& uri);
std::vector<std::string> file_names(const std::string& format);

}  // namespace radl::engine::data

// Where a dataset can be read: a path of this computer for whatever a user may name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

struct PlaceOptions {
  std::string format;  // as OpenOptions::name; HTTP has no listing, so the names of its files are asked for
  std::function<void(const std::string& line)> say;
  std::function<void(uint64_t done, uint64_t total)> progress;  // bytes that are fetched; total 0: not known
  Stop stop;
};

// A path is itself. What lies elsewhere (http, https, s3, webhdfs, swebhdfs: a folder, or a single archive,
// CSV or packed file) is brought to the user's cache, an archive is unpacked there, each once and by one
// process at a time.
Result<std::string> local_place(const std::string& place, const PlaceOptions& options = {});

// Of a URI: it names an archive, a CSV or a packed file; what it names can be listed; and where it cannot,
// the names that files of a format ("": of any) have below it.
bool is_one_file(const std::string& uri);
bool has_listing(const std::string& uri);
std::vector<std::string> file_names(const std::string& format);

}  // namespace radl::engine::data

// Where a dataset can be read: a path of this computer for whatever a user may name.
#pragma once

#include <functional>
#include <string>

#include "common/status.h"
#include "common/stop.h"

namespace radl::engine::data {

struct PlaceOptions {
  std::string format;  // as OpenOptions::name; HTTP has no listing, so the names of its files are asked for
  std::function<void(const std::string& line)> say;
  Stop stop;
};

// A path is itself. What lies elsewhere (http, https, s3, webhdfs, swebhdfs: a folder, or a single archive,
// CSV or packed file) is brought to the user's cache, an archive is unpacked there, each once and by one
// process at a time.
Result<std::string> local_place(const std::string& place, const PlaceOptions& options = {});

}  // namespace radl::engine::data

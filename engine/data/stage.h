// What has to lie on a node so that a dataset can be read there: a folder of this computer and a list of
// files.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "engine/data/fetch_cifar10.h"

namespace radl::engine::data {

struct StageOptions {
  std::string dataset;  // "cifar10", or a place (place.h)
  // Of cifar10:
  FetchOptions fetch;
  // Of a place. Corrupt images are refused, or with skip_corrupt left out of the list, at most corrupt_limit.
  bool skip_corrupt = false;
  size_t corrupt_limit = SIZE_MAX;
  int threads = 1;
  bool offline = false;  // only what is on this computer already
  std::function<void(const std::string& line)> say;
  Stop stop;
};

struct Staged {
  std::string directory;
  std::string list;    // file with the lines "SHA256  ./NAME", as sha256sum reads them
  std::string digest;  // of the list
  size_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> left_out;  // corrupt
};

// Fetches, unpacks, decodes every image once for each content (what was found is kept in the user's cache),
// and writes the list. Nothing when `offline` and it is not here. Corrupt names the first images that are.
Result<std::optional<Staged>> stage_dataset(const StageOptions& options);

}  // namespace radl::engine::data

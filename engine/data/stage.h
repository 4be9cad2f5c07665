// Prepares a dataset to be copied to a node, where it will be read: a local folder and a list of
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
  // For cifar10:
  FetchOptions fetch;
  // For a place. Corrupt images are an error, or with skip_corrupt omitted, at most corrupt_limit.
  bool skip_corrupt = false;
  size_t corrupt_limit = SIZE_MAX;
  int threads = 1;
  bool offline = false;  // use local files only
  std::function<void(const std::string& line)> say;
  Stop stop;
};

struct Staged {
  std::string directory;
  std::string list;    // file with lines "SHA256  ./NAME", the input format of sha256sum
  std::string digest;  // of the list
  size_t files = 0;
  uint64_t bytes = 0;
  std::vector<std::string> left_out;  // corrupt images
};

// Fetches, unpacks and decodes every image (once per content; results are cached in the user's cache), and
// writes the list. nullopt if `offline` and not available locally. Corrupt names the first corrupt images.
Result<std::optional<Staged>> stage_dataset(const StageOptions& options);

}  // namespace radl::engine::data

// What a plan reports about the user's datasets before anything is created.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/environment.h"
#include "common/status.h"
#include "common/stop.h"
#include "compiler/ir/ir.h"

namespace radl {

// One line per user dataset of the steps with these IDs: images, classes, sizes and corrupt images. Inspects
// headers and a sample of images (about 64 MiB of files), and caches the result by content in the user's
// cache. Skips remote datasets. Invalid: unsuitable for training. Corrupt images are not an error here.
// Cancelled: `stop`.
Result<std::vector<std::string>> look_at_datasets(const ir::Program& program,
                                                  const std::set<std::string>& steps,
                                                  const Environment& environment, const Stop& stop);

struct DatasetSize {
  size_t train = 0, test = 0, classes = 0;
  std::string shape;  // shape for training: "64x64x3"
};
// For a training with user data that is local and readable; nullopt:
// unknown.
std::optional<DatasetSize> dataset_size(const ir::Step& training, const Environment& environment);

}  // namespace radl

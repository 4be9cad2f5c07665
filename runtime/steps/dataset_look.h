// What a plan says about datasets of the user's own, before anything is made.
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

// One line for each dataset of one's own that the steps with these ids use: its images, classes, sizes and
// corrupt images. Headers and a spread of images are looked at (about 64 MiB of files), and what was found is
// kept for the content in the user's cache. Places elsewhere are not asked. Invalid: it cannot be trained on;
// Corrupt images are no error here. Cancelled: `stop`.
Result<std::vector<std::string>> look_at_datasets(const ir::Program& program,
                                                  const std::set<std::string>& steps,
                                                  const Environment& environment, const Stop& stop);

struct DatasetSize {
  size_t train = 0, test = 0, classes = 0;
  std::string shape;  // as it is trained on: "64x64x3"
};
// Of the training's own data, as far as it lies on this computer and can be looked at; nullopt: it is not
// known.
std::optional<DatasetSize> dataset_size(const ir::Step& training, const Environment& environment);

}  // namespace radl

// What a plan says about datasets of the user's own, before anything is made.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"

namespace radl {

// One line for each dataset of one's own that the steps with these ids use: its images, classes, sizes and
// corrupt images. Headers and a spread of images are looked at (about 64 MiB of files), and what was found is
// kept for the content in the user's cache. Places elsewhere are not asked. Invalid: it cannot be trained on;
// Corrupt images are no error here.
Result<std::vector<std::string>> look_at_datasets(const ir::Program& program,
                                                  const std::set<std::string>& steps);

}  // namespace radl

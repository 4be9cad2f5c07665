// Where the time of a training step goes: per kernel and per operation, relative to the machine's peak.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/kernels/peak.h"
#include "engine/model/network.h"

namespace radl::engine::cli {

struct Profile {
  std::vector<OperationTime> operations;  // totals over `steps` steps; includes the update
  int steps = 0;
  double step_seconds = 0;  // mean wall-clock time of those steps
  Peaks peaks;
};

// A table of kernels, and one of the most expensive operations.
std::string profile_text(const Profile& profile);
nlohmann::ordered_json profile_json(const Profile& profile);

}  // namespace radl::engine::cli

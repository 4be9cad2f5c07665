// Where a training step's time goes: per kernel and per operation, beside what the machine can do.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/kernels/peak.h"
#include "engine/model/network.h"

namespace radl::engine::cli {

struct Profile {
  std::vector<OperationTime> operations;  // sums over `steps` steps; the update is one of them
  int steps = 0;
  double step_seconds = 0;  // mean of those steps, on the wall
  Peaks peaks;
};

// A table of kernels and one of the operations that take most.
std::string profile_text(const Profile& profile);
nlohmann::ordered_json profile_json(const Profile& profile);

}  // namespace radl::engine::cli

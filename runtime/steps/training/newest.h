// Finds the node of a training that has its newest checkpoint.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::training {

// Compares the names of the files. nullopt: no reachable node has a checkpoint.
std::optional<size_t> newest_checkpoint(const std::vector<std::unique_ptr<jobs::Member>>& members);

}  // namespace radl::training

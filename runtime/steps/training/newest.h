// Which node of a training holds its newest checkpoint.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/steps/jobs/member.h"

namespace radl::training {

// By the names of the files; nullopt if no node that can be reached has one.
std::optional<size_t> newest_checkpoint(const std::vector<std::unique_ptr<jobs::Member>>& members);

}  // namespace radl::training

// Default durations of steps, used until similar ones have been measured (measured.h). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/ir/ir.h"

namespace radl {

// Seconds on a node of that cloud type ("local", "ec2"); nullopt: unknown, for example for a job.
std::optional<double> usual_seconds(const ir::Step& step, std::string_view cloud_type);

}  // namespace radl

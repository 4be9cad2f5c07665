// What a step usually takes, until one like it has been measured (measured.h). Pure.
#pragma once

#include <optional>
#include <string_view>

#include "compiler/ir/ir.h"

namespace radl {

// Seconds, on a node of that type of cloud ("local", "ec2"); nullopt: nobody can say, as of a job.
std::optional<double> usual_seconds(const ir::Step& step, std::string_view cloud_type);

}  // namespace radl

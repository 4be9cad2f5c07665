// The part of Slurm's agent (slurm_agent.h) that calls Slurm's commands: shell functions, of which `clerk`
// never returns while the agent lives.
#pragma once

#include <string>

#include "runtime/farm/settings.h"

namespace radl::farm {

std::string slurm_clerk_script(const SlurmSettings& settings);

}  // namespace radl::farm

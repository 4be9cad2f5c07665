// The part of Slurm's agent (slurm_agent.h) that calls Slurm's commands: shell functions, of which `clerk`
// never returns while the agent lives.
#pragma once

#include <string>
#include <string_view>

#include "runtime/farm/settings.h"

namespace radl::farm {

// The states of jobs that have ended, as a pattern of `case` and of awk; in scripts, ENDED_STATES.
inline constexpr std::string_view kSlurmEnded =
    "COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|BOOT_FAIL|PREEMPTED|OUT_OF_MEMORY|DEADLINE|REVOKED";

std::string slurm_clerk_script(const SlurmSettings& settings);

}  // namespace radl::farm

// `radlc recommend --study NAME`: uses measured epoch times of clusters instead of a file.
#pragma once

#include "runtime/cli/recommend_flags.h"

namespace radl::cli {

// Prints the result. Returns the exit code.
int run_study(const Session& session, const RecommendFlags& flags);

}  // namespace radl::cli

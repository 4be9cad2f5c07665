// `radlc recommend --study NAME`: no file, but measured epoch times of clusters.
#pragma once

#include "runtime/cli/recommend_question.h"

namespace radl::cli {

// Prints; the exit code.
int run_study(const Session& session, const RecommendFlags& flags);

}  // namespace radl::cli

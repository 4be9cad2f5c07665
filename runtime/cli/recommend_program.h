// `radlc recommend` of a program of the user's own: which machine type for its nodes, by what its own runs
// took.
#pragma once

#include "runtime/cli/recommend_question.h"

namespace radl::cli {

// The exit status. A type that the program ran on is measured; others are scaled from the nearest one by
// cores, from not at all to in proportion, which is the band. A type with GPUs is known only if it ran on
// that type. The number of nodes is the file's.
int run_program(const Session& session, const RecommendFlags& flags, const Project& project,
                const Machinery& machinery, const ir::Step& step);

}  // namespace radl::cli

// Population-based training (Jaderberg et al., 2017) in generations: each member of a generation trains for
// one interval and saves a checkpoint. In the next generation, weak members continue from the checkpoint of a
// better one with modified parameters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/farm/draws.h"
#include "runtime/farm/space.h"

namespace radl::farm {

// Parameters of a trial, and the trial whose output it continues; "": none.
struct Suggestion {
  Json parameters;
  std::string parent;
};

// A trial of the previous generation.
struct Ancestor {
  std::string task;
  Json parameters;
  std::optional<double> cost;  // lower is better; nullopt: its output is unusable
};

// The successor of ancestor `member`. Members of the last quarter (at least one), and those without a cost,
// continue from a random member of the first quarter; all others from themselves with the same parameters.
Suggestion evolve(const Space& space, const std::vector<Ancestor>& before, size_t member, Draws draws);

}  // namespace radl::farm

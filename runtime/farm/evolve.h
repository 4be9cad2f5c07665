// Population-based training (Jaderberg et al., 2017) in generations: each member of a generation trains for
// one interval and leaves a checkpoint. In the next one, members that have fallen behind continue from the
// checkpoint of a better one, with changed parameters.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/farm/draws.h"
#include "runtime/farm/space.h"

namespace radl::farm {

// Values of a trial, and the trial whose output it starts from; "": it starts from nothing.
struct Suggestion {
  Json parameters;
  std::string parent;
};

// A trial of the generation before.
struct Ancestor {
  std::string task;
  Json parameters;
  std::optional<double> cost;  // lower is better; nullopt: it has left nothing to continue from
};

// The successor of ancestor `member`. The last quarter, at least one, and whoever has no cost continue from a
// random one of the first quarter; the others continue from themselves, with the same parameters.
Suggestion evolve(const Space& space, const std::vector<Ancestor>& before, size_t member, Draws draws);

}  // namespace radl::farm

// Addresses and ports for a job's members, and the name of its folder.
#pragma once

#include <string>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl::jobs {

// The address for other members: first in a network joined by WireGuard, then private, then public; IPv6 in
// brackets.
std::string address_of(const NodeHandle& node);
// True if its files are on this computer.
bool is_local(const NodeHandle& node);
// A port in 20000 - 32000, below the usual range of ephemeral ports.
int choose_port(const std::vector<int>& used);
// The name of a training's or program's folder below ~/.radl/jobs; the step's values must be known.
std::string folder_of(const ir::Step& step);

}  // namespace radl::jobs

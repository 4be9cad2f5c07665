// Addresses and ports by which the members of a job reach each other, and the name of its folder.
#pragma once

#include <string>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl::jobs {

// As the other members reach it: in a network that WireGuard joins before private before public; IPv6 in
// brackets.
std::string address_of(const NodeHandle& node);
// Its files lie on this computer.
bool is_local(const NodeHandle& node);
// A port in 20000 - 32000, below the range from which systems take those of outgoing connections.
int choose_port(const std::vector<int>& used);
// The name of a training's or program's folder below ~/.radl/jobs; the step's values are known.
std::string folder_of(const ir::Step& step);

}  // namespace radl::jobs

// Whether the machines of a training, their images and this computer's engine are of one architecture: before
// anything is made, since the engine is sent to the nodes.
#pragma once

#include <set>
#include <string>

#include "runtime/catalog/catalog.h"
#include "runtime/plan/plan.h"
#include "runtime/state/snapshot.h"

namespace radl {

// "x86_64", "arm64"; "" if `program` is not an ELF file of either.
std::string architecture_of_program(const std::string& program);

// Invalid names the first node of a training among `steps` that has, or is offered, a type or an image of
// another architecture than `engine` ("": of any). Types that no catalogue knows pass, and images whose cloud
// no survey has asked: the node itself is asked later.
Status check_architectures(const ir::Program& program, const std::set<std::string>& steps, const Plan& plan,
                           const Snapshot& snapshot, const Catalog& catalog, const std::string& engine);

}  // namespace radl

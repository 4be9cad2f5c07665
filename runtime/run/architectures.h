// Checks before anything is created that a training's machines, their images and this computer's engine have
// the same architecture, because the engine is copied to the nodes.
#pragma once

#include <set>
#include <string>

#include "runtime/catalog/catalog.h"
#include "runtime/plan/plan.h"
#include "runtime/state/snapshot.h"

namespace radl {

// "x86_64", "arm64"; "" if `program` is not an ELF file of either.
std::string architecture_of_program(const std::string& program);

// Invalid names the first node of a training among `steps` that has, or is offered, a type or image of
// another architecture than `engine` ("": any). Accepts types missing from catalogues, and images not covered
// by a survey: those nodes are checked later.
Status check_architectures(const ir::Program& program, const std::set<std::string>& steps, const Plan& plan,
                           const Snapshot& snapshot, const Catalog& catalog, const std::string& engine);

}  // namespace radl

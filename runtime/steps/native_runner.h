// Runs native steps: looks at all resources of a step in one round trip, shows what differs, changes that and
// no more.
//
// With sudo (without a password, or with the one that is given) everything runs as root, with HOME still the
// login user's; without it, what needs root is an error that says so. On a node that shares this computer's
// file system (attribute `confined_to`), a resource that would write outside of the node's folder, or change
// the machine, is refused before anything runs.
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_native_runner();

}  // namespace radl

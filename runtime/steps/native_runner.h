// Runs native steps: inspects all resources of a step in one round trip, shows the differences, and changes
// only those.
//
// With sudo (without a password, or with the given one) everything runs as root, with HOME still the login
// user's; without sudo, resources that need root are an error. On a node that shares this computer's file
// system (attribute `confined_to`), a resource that would write outside of the node's folder, or change the
// machine, is rejected before anything runs.
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_native_runner();

}  // namespace radl

// Runs Ansible recipes through the installed ansible-playbook, with host keys pinned, secrets in files of
// mode 0600 and never in arguments, and each task reported as an event.
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_ansible_runner();

// cloud_init recipes: user data is applied by a provider when it makes the machine; where it was not,
// Unsupported.
std::unique_ptr<StepRunner> make_cloud_init_runner();

}  // namespace radl

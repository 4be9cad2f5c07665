// Runs Ansible recipes with the installed ansible-playbook. Pins host keys, keeps secrets in files of mode
// 0600 and never in arguments, and reports each task as an event.
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_ansible_runner();

// Waits for the end of cloud-init, which runs cloud_init recipes: the cloud passes them to the machine at
// creation (the spec's "cloud_init", one of the node's attributes). Unsupported: the cloud or the image has
// no cloud-init.
std::unique_ptr<StepRunner> make_cloud_init_runner();

}  // namespace radl

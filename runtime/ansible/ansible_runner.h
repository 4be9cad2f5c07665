// Runs Ansible recipes through the installed ansible-playbook, with host keys pinned, secrets in files of
// mode 0600 and never in arguments, and each task reported as an event.
#pragma once

#include <memory>

#include "runtime/steps/step_runner.h"

namespace radl {

std::unique_ptr<StepRunner> make_ansible_runner();

// cloud_init recipes: a cloud hands them to the machine that it makes (its spec's "cloud_init", which is
// among the node's attributes), and this waits for cloud-init's end. Unsupported: the cloud or the image has
// none.
std::unique_ptr<StepRunner> make_cloud_init_runner();

}  // namespace radl

// Roles and collections that a node's applications name: ansible.roles.R, ansible.collections.C.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/steps/step_runner.h"

namespace radl::recipes {

struct Requirement {
  bool collection = false;
  std::string source, version, name, scm;  // scm: "git" or empty
};

// "ansible.roles.geerlingguy.nfs,1.2", "ansible.roles.git+https://host/x.git|name"; nullopt for another
// application.
std::optional<Requirement> parse_requirement(const std::string& application);

// Installs what is not there yet below `folder` (roles/, collections/), for all nodes of the program. An
// error names what could not be had and from where.
Status install_requirements(const ir::Program& program, const std::string& folder, const Context& context,
                            const std::function<void(const std::string&)>& say);

}  // namespace radl::recipes

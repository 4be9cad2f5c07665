// Roles and collections named by a node's applications: ansible.roles.R, ansible.collections.C.
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

// Parses "ansible.roles.geerlingguy.nfs,1.2", "ansible.roles.git+https://host/x.git|name"; nullopt for any
// other application.
std::optional<Requirement> parse_requirement(const std::string& application);

// Installs missing roles and collections below `folder` (roles/, collections/), for all nodes of the program.
// The error names what could not be fetched and from where.
Status install_requirements(const ir::Program& program, const std::string& folder, const Context& context,
                            const std::function<void(const std::string&)>& say);

}  // namespace radl::recipes

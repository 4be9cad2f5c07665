// The ansible.cfg of one run of ansible-playbook. This computer's own configuration is ignored.
#pragma once

#include <string>
#include <vector>

namespace radl::recipes {

// Environment variables passed to Ansible's programs.
extern const std::vector<std::string> kAnsibleVariables;

struct ConfigurationPaths {
  std::string own;      // per run: inventory, callback, known hosts
  std::string shared;   // per infrastructure: installed roles and collections, facts
  std::string roles;    // the project's own
  std::string sockets;  // short, because socket paths are limited
};
std::string make_configuration(const ConfigurationPaths& paths);

}  // namespace radl::recipes

// The ansible.cfg of one run of ansible-playbook: nothing is taken from this computer's own.
#pragma once

#include <string>
#include <vector>

namespace radl::recipes {

// What Ansible's programs get of our environment.
extern const std::vector<std::string> kAnsibleVariables;

struct ConfigurationPaths {
  std::string own;      // of this run: inventory, callback, known hosts
  std::string shared;   // of the infrastructure: roles and collections that were installed, facts
  std::string roles;    // of the project
  std::string sockets;  // short, as a socket's path must be
};
std::string make_configuration(const ConfigurationPaths& paths);

}  // namespace radl::recipes

// The inventory of a run of Ansible: groups, hosts and the IM_* variables that RADL recipes expect.
// docs/steps.md lists them and where they differ from the reference service.
#pragma once

#include <string>
#include <vector>

#include "runtime/net/ssh/key_places.h"
#include "runtime/steps/step_runner.h"

namespace radl::recipes {

// "<ip>_<number>"
std::string host_name(const NodeHandle& node);

// How Ansible gets in and up on one node, found out by looking.
struct Access {
  bool is_root = false, has_sudo = false;
  std::string sudo_password;  // where sudo asks for one
  std::string python;         // path of its interpreter
};

struct InventoryInput {
  std::string infrastructure;
  const ir::Program* program = nullptr;
  const std::vector<NodeHandle>* nodes = nullptr;  // every node that is there
  const ir::Secrets* secrets = nullptr;
  ssh::KeyPlaces keys;  // where the keys are that the nodes' attributes name
  // Access of the node that the step is for; of others nothing is known.
  std::string address;
  Access access;
};

// JSON, which is YAML, for Ansible's yaml inventory plugin. Holds secrets where a node has only a password:
// mode 0600.
Json make_inventory(const InventoryInput& input);

// One line per node: "[host]:port ssh-ed25519 ...".
std::string known_hosts(const std::vector<NodeHandle>& nodes);

}  // namespace radl::recipes

// The inventory of an Ansible run: groups, hosts and the IM_* variables that RADL recipes expect.
// docs/steps.md lists them and the differences from the reference service.
#pragma once

#include <string>
#include <vector>

#include "runtime/net/ssh/key_places.h"
#include "runtime/steps/step_runner.h"

namespace radl::recipes {

// "<ip>_<number>"
std::string host_name(const NodeHandle& node);

// How Ansible logs in and becomes root on a node, as probed.
struct Access {
  bool is_root = false, has_sudo = false;
  std::string sudo_password;  // if sudo asks for one
  std::string python;         // path of the Python interpreter
};

struct InventoryInput {
  std::string infrastructure;
  const ir::Program* program = nullptr;
  const std::vector<NodeHandle>* nodes = nullptr;  // all existing nodes
  const ir::Secrets* secrets = nullptr;
  ssh::KeyPlaces keys;  // where to find the keys that the nodes' attributes name
  // Access to the step's node. Access to other nodes is unknown.
  std::string address;
  Access access;
};

// JSON (a subset of YAML) for Ansible's yaml inventory plugin. Contains passwords of nodes that have no key:
// write it with mode 0600.
Json make_inventory(const InventoryInput& input);

// One line per node: "[host]:port ssh-ed25519 ...".
std::string known_hosts(const std::vector<NodeHandle>& nodes);

}  // namespace radl::recipes

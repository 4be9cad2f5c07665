// What the program wants to exist: resources in the order of their making. Internal to runtime/plan.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/plan/provider_set.h"

namespace radl {

struct Desired {
  std::string address;
  ResourceKind kind = ResourceKind::Node;
  std::string provider;
  Json spec;
  std::vector<std::string> needs;
  std::string summary;
  const ir::Node* node = nullptr;  // of a node
  Quote quote;                     // of a node
};

struct DesiredResources {
  std::vector<Desired> resources;
  std::deque<ir::Node>
      resolved;  // nodes that have soft features, as they will be made; `resources` point here
  std::vector<std::string> notes;  // of the quotes, each once
};

// Invalid: everything that cannot be had, a line each.
Result<DesiredResources> desired_resources(const ir::Program& program, const ProviderSet& providers);

}  // namespace radl

// What the program wants to exist, as its clouds design it. Internal to runtime/plan.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

struct Desired {
  Wanted wanted;
  std::string cloud;               // CloudId::text()
  const ir::Node* node = nullptr;  // that it is, with the soft features that it gets
  size_t offer = 0;                // of wanted.offers: the one that it has, or will have

  bool has_offers() const { return !wanted.offers.empty(); }
  // What the cloud is given.
  Json spec() const { return has_offers() ? offered_spec(wanted.spec, wanted.offers[offer]) : wanted.spec; }
  Money price() const { return has_offers() ? wanted.offers[offer].price_per_hour : Money(); }
};

struct DesiredResources {
  std::vector<Desired> resources;  // cloud by cloud, each after what it references
  std::deque<ir::Node>
      resolved;  // nodes that have soft features, as they will be made; `resources` point here
  std::vector<std::string> notes;  // each once
  std::set<std::string> clouds;    // that were asked
};

// Invalid: everything that cannot be had, a line each.
Result<DesiredResources> desired_resources(const PlanInput& input);

}  // namespace radl

// The resources that the program requests, as designed by its clouds. Internal to runtime/plan.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

struct Desired {
  Wanted wanted;
  std::string cloud;               // CloudId::text()
  const ir::Node* node = nullptr;  // the node, including its accepted soft features
  size_t offer = 0;                // index into wanted.offers: the current or chosen one

  bool has_offers() const { return !wanted.offers.empty(); }
  // The spec sent to the cloud.
  Json spec() const { return has_offers() ? offered_spec(wanted.spec, wanted.offers[offer]) : wanted.spec; }
  Money price() const { return has_offers() ? wanted.offers[offer].price_per_hour : Money(); }
};

struct DesiredResources {
  std::vector<Desired> resources;  // by cloud, each after what it references
  std::deque<ir::Node>
      resolved;  // nodes that have soft features, as they will be created; `resources` point here
  std::vector<std::string> notes;  // without duplicates
  std::set<std::string> clouds;    // clouds that were queried
};

// Invalid: lists everything that is unavailable, one per line.
Result<DesiredResources> desired_resources(const PlanInput& input);

}  // namespace radl

// Hourly prices of a file without a cloud in all clouds with credentials, shown beside the plan as a
// comparison.
#pragma once

#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "runtime/plan/plan.h"

namespace radl::driver {

struct PriceElsewhere {
  std::string name;   // value for --cloud
  std::string cloud;  // CloudId::text() of one of its nodes
  MoneySum per_hour;
  bool complete = true;  // false: the sum omits machines without a known price
};

// Cheapest first; incomplete prices last. Uses the catalogue offline and assumes an empty state. Empty if
// --cloud is given, if every node's `deploy` or image names its cloud, and for more than 1,000 nodes. Omits
// clouds that cannot create the nodes.
std::vector<PriceElsewhere> prices_elsewhere(const Project& project, const Machinery& machinery);

// "For comparison, by the catalogue: gce 0.10 USD/h, ec2 0.12 USD/h (`--cloud gce`)."; empty for an empty
// list.
std::string render_text(const std::vector<PriceElsewhere>& prices);
Json to_json(const std::vector<PriceElsewhere>& prices);

}  // namespace radl::driver

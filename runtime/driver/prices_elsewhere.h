// What a file that names no cloud would cost an hour where there are credentials: beside the plan, for
// whoever asks where to take it.
#pragma once

#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/project.h"
#include "runtime/plan/plan.h"

namespace radl::driver {

struct PriceElsewhere {
  std::string name;   // what --cloud takes
  std::string cloud;  // CloudId::text() of one of its nodes
  MoneySum per_hour;
  bool complete = true;  // false: of some machine nobody knows the price, and it is not in the sum
};

// The cheapest first, those whose price is not known to the end last. By the catalogue, without a network, as
// if there were nothing yet. Empty where --cloud is given, where every node's `deploy` or image says its
// cloud, and for more than 1,000 nodes. A cloud that cannot make the nodes is left out.
std::vector<PriceElsewhere> prices_elsewhere(const Project& project, const Machinery& machinery);

// "For comparison, by the catalogue: gce 0.10 USD/h, ec2 0.12 USD/h (`--cloud gce`)."; empty for an empty
// list.
std::string render_text(const std::vector<PriceElsewhere>& prices);
Json to_json(const std::vector<PriceElsewhere>& prices);

}  // namespace radl::driver

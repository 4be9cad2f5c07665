// What a region currently offers, for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// {"account", "zones": [..], "vpc", "images": {wanted: id}, "spot": {type: USD/h of the cheapest zone}}.
// NotFound: an image or VPC does not exist.
Result<Json> take_survey(Call& call, const ir::Program& program);
// Cloud::refused_in_advance(), with DryRun requests for the type, image, subnet and tags of the orders.
std::vector<std::string> refused_launches(Call& call, const std::vector<Order>& orders);

}  // namespace radl::ec2

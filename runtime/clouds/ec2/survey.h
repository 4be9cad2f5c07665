// What a region has on offer now: for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/ec2/kind.h"

namespace radl::ec2 {

// {"account", "zones": [..], "vpc", "images": {wanted: id}, "spot": {type: USD/h of the cheapest zone}}.
// Auth: the credentials may not make machines (asked with DryRun); NotFound: an image or VPC is not there.
Result<Json> take_survey(Call& call, const ir::Program& program);

}  // namespace radl::ec2

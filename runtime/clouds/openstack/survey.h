// What a cloud has on offer now: for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// {"project", "zones": [..], "flavors": [..], "images": {wanted: id}, "volume_types": [..], "quotas":
// (quotas.h)}. NotFound: an image, a network, a volume or a floating address is not there. Invalid: it cannot
// be what the file wants of it.
Result<Json> take_survey(Asking& call, const ir::Program& program, const std::string& host);

}  // namespace radl::openstack

// What a cloud currently offers, for `radlc plan --refresh`.
#pragma once

#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {

// {"project", "zones": [..], "flavors": [..], "images": {wanted: id}, "volume_types": [..], "quotas":
// (quotas.h)}. NotFound: an image, network, volume or floating address does not exist. Invalid: it does not
// suit the file's request.
Result<Json> take_survey(Asking& call, const ir::Program& program, const std::string& host);

}  // namespace radl::openstack

#include "runtime/clouds/provider.h"

#include <memory>

#include "common/http/closed_address.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/hosts/hosts_cloud.h"

namespace radl::hosts {
namespace {

void add_clouds(const CloudSetup& setup, CloudSet& clouds) {
  if (http::is_confined(setup.environment)) return;
  clouds.add(clouds.keep(make_cloud(options_of(setup.environment, &setup.connections))));
}

}  // namespace

const CloudProvider& provider() {
  static const CloudProvider self = {.type = kCloudName,
                                     .other_names = {"ssh", "host"},
                                     .image_schemes = {"ssh"},
                                     .on_this_computer = true,
                                     .add_clouds = add_clouds};
  return self;
}

}  // namespace radl::hosts

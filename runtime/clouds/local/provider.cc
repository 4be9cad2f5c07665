#include "runtime/clouds/provider.h"

#include <memory>

#include "common/http/closed_address.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/local/local_cloud.h"

namespace radl::local {
namespace {

void add_clouds(const CloudSetup& setup, CloudSet& clouds) {
  if (http::is_confined(setup.environment)) return;
  Options options = options_of(setup.environment);
  options.stop = setup.stop;
  clouds.add(clouds.keep(make_cloud(options)));
}

}  // namespace

const CloudProvider& provider() {
  static const CloudProvider self = {
      .type = "local", .other_names = {"localhost"}, .on_this_computer = true, .add_clouds = add_clouds};
  return self;
}

}  // namespace radl::local

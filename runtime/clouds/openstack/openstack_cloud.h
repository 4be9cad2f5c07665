// OpenStack: one cloud for each account and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of Nova, Neutron, Glance and Cinder, one per
// request except for requests that need several. Every resource has a mark that identifies it even if the
// response was lost (marks.h; docs/decisions/0021-openstack.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/environment.h"
#include "common/openstack/settings.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/provider.h"
#include "runtime/clouds/timing.h"

namespace radl::http {
class Client;
}

namespace radl::openstack {

// Listed in runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  // Settings of an account; "": the default one. Does not use the network.
  std::function<Result<Settings>(const std::string& account)> settings;
  Timing timing{std::chrono::seconds(30), {std::chrono::milliseconds(200), std::chrono::seconds(5)}};
  // The public address of this computer as a CIDR; empty: determined when needed.
  std::string caller;
};

// Reads clouds.yaml and the variables OS_*. RADL_OPENSTACK_SETTLES_AFTER and RADL_OPENSTACK_PACE (seconds)
// adapt to servers that show changes sooner. RADL_CALLER_CIDR sets the address that SSH is opened for.
Result<Options> options_of(http::Client& http);

using LoadOptions = std::function<Result<Options>(http::Client& http)>;
// Calls `load` on the first request for a cloud of the family. `account`: its region is used for nodes that
// name none; "": the default account.
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of,
                                         const std::string& account = {});

// `http` must outlive the cloud. If `settings` is not ok, there are no credentials, and requests report that.
std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<Settings> settings);

}  // namespace radl::openstack

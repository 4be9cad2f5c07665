// OpenStack: one cloud for each account and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of Nova, Neutron, Glance and Cinder, one for each
// request but where a request takes several. Everything that is made carries a mark by which it is found
// again, whatever becomes of the answer (marks.h; docs/decisions/0021-openstack.md).
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

// In the list of all: runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  // Of an account by its name; "": the default one. Asks no network.
  std::function<Result<Settings>(const std::string& account)> settings;
  Timing timing{std::chrono::seconds(30), {std::chrono::milliseconds(200), std::chrono::seconds(5)}};
  // The address, as a CIDR, that this computer is seen under from outside; empty: asked for when it is
  // needed.
  std::string caller;
};

// clouds.yaml and the variables OS_*. RADL_OPENSTACK_SETTLES_AFTER and RADL_OPENSTACK_PACE (seconds) are for
// servers that are quicker to show what was made; RADL_CALLER_CIDR says what SSH is opened for.
Result<Options> options_of(http::Client& http);

using LoadOptions = std::function<Result<Options>(http::Client& http)>;
// `load` is called when a cloud of the family is first asked for. `account`: whose region a node goes to that
// names none; "": the default one's.
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of,
                                         const std::string& account = {});

// `http` outlives the cloud. `settings` not ok: there are no credentials, which is reported when the cloud is
// asked for something.
std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<Settings> settings);

}  // namespace radl::openstack

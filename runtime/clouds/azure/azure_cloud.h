// Microsoft Azure: one cloud for each account (subscription) and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of the Resource Manager, one for each request but
// where a change takes several. Everything that an infrastructure has in a region is in one resource group;
// what is made has a name of its token and the whole mark in its tags (docs/decisions/0023-azure.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/azure/settings.h"
#include "common/environment.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/provider.h"
#include "runtime/clouds/timing.h"

namespace radl::http {
class Client;
}

namespace radl::azure {

// In the list of all: runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  // Of an account by its name; "": the default one. Asks no network.
  std::function<Result<Settings>(const std::string& account)> settings;
  Settings places;  // location and addresses, also where there are no credentials
  Timing timing{std::chrono::seconds(20), {std::chrono::seconds(1), std::chrono::seconds(10)}};
  // The address, as a CIDR, that this computer is seen under from outside; empty: asked for when it is
  // needed.
  std::string caller;
};

// Azure's own variables and files (common/azure/settings.h). RADL_AZURE_SETTLES_AFTER and RADL_AZURE_PACE
// (seconds) are for servers that are quicker to show what was made; RADL_CALLER_CIDR says what SSH is opened
// for.
Result<Options> options_of(http::Client& http);

using LoadOptions = std::function<Result<Options>(http::Client& http)>;
// `load` is called when a cloud of the family is first asked for.
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of);

// `http` outlives the cloud. `settings` not ok: there are no credentials, which is reported when the cloud is
// asked for something.
std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<Settings> settings);

}  // namespace radl::azure

// Microsoft Azure: one cloud for each account (subscription) and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of the Resource Manager, one per request except for
// changes that need several. An infrastructure has one resource group per region. Each resource is named
// after its token and has its complete mark in its tags (docs/decisions/0023-azure.md).
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

// Listed in runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  // Settings of an account; "": the default one. Does not use the network.
  std::function<Result<Settings>(const std::string& account)> settings;
  Settings places;  // location and addresses, known even without credentials
  Timing timing{std::chrono::seconds(20), {std::chrono::seconds(1), std::chrono::seconds(10)}};
  // The public address of this computer as a CIDR; empty: determined when needed.
  std::string caller;
};

// Reads Azure's own variables and files (common/azure/settings.h). RADL_AZURE_SETTLES_AFTER and
// RADL_AZURE_PACE (seconds) adapt to servers that show changes sooner. RADL_CALLER_CIDR sets the address that
// SSH is opened for.
Result<Options> options_of(http::Client& http);

using LoadOptions = std::function<Result<Options>(http::Client& http)>;
// Calls `load` on the first request for a cloud of the family.
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of);

// `http` must outlive the cloud. If `settings` is not ok, there are no credentials, and requests report that.
std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<Settings> settings);

}  // namespace radl::azure

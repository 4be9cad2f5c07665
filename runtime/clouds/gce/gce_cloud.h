// Google Compute Engine: one cloud for each account and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of the Compute Engine API (v1), one per request
// except for changes that need several. A request returns an operation, which later queries follow
// (operations.h). Every resource has a name and a mark that identify it even if the response was lost
// (marks.h; docs/decisions/0022-gce.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/environment.h"
#include "common/google/settings.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/provider.h"
#include "runtime/clouds/timing.h"

namespace radl::http {
class Client;
}

namespace radl::gce {

// Listed in runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  // Settings of an account; "": the default one. Does not use the network.
  std::function<Result<google::Settings>(const std::string& account)> settings;
  google::Settings places;  // project, region and zone, known even without credentials
  Timing timing{std::chrono::seconds(20), {std::chrono::milliseconds(500), std::chrono::seconds(5)}};
  // The public address of this computer as a CIDR; empty: determined when needed.
  std::string caller;
};

// Reads Google's own variables and files (common/google/settings.h). RADL_GCE_SETTLES_AFTER and RADL_GCE_PACE
// (seconds) adapt to servers that show changes sooner. RADL_CALLER_CIDR sets the address that SSH is opened
// for.
Result<Options> options_of(http::Client& http);

using LoadOptions = std::function<Result<Options>(http::Client& http)>;
// Calls `load` on the first request for a cloud of the family.
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of);

// `http` must outlive the cloud. If `settings` is not ok, there are no credentials, and requests report that.
// `zone`: for machines whose file names none; "": any zone of the region.
std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<google::Settings> settings, const std::string& zone = {});

}  // namespace radl::gce

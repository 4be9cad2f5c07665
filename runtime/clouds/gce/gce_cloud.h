// Google Compute Engine: one cloud for each account and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of the Compute Engine API (v1), one for each request
// but where a change takes several. A request is answered with an operation, which looks follow
// (operations.h); everything that is made has a name and a mark by which it is found again, whatever becomes
// of the answer (marks.h; docs/decisions/0022-gce.md).
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

// In the list of all: runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  // Of an account by its name; "": the default one. Asks no network.
  std::function<Result<google::Settings>(const std::string& account)> settings;
  google::Settings places;  // project, region and zone, also where there are no credentials
  Timing timing{std::chrono::seconds(20), {std::chrono::milliseconds(500), std::chrono::seconds(5)}};
  // The address, as a CIDR, that this computer is seen under from outside; empty: asked for when it is
  // needed.
  std::string caller;
};

// Google's own variables and files (common/google/settings.h). RADL_GCE_SETTLES_AFTER and RADL_GCE_PACE
// (seconds) are for servers that are quicker to show what was made; RADL_CALLER_CIDR says what SSH is opened
// for.
Result<Options> options_of(http::Client& http);

using LoadOptions = std::function<Result<Options>(http::Client& http)>;
// `load` is called when a cloud of the family is first asked for.
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of);

// `http` outlives the cloud. `settings` not ok: there are no credentials, which is reported when the cloud is
// asked for something. `zone`: where machines go whose file names no zone; "": any of the region.
std::unique_ptr<Cloud> make_cloud(const CloudId& id, http::Client& http, const Options& options,
                                  Result<google::Settings> settings, const std::string& zone = {});

}  // namespace radl::gce

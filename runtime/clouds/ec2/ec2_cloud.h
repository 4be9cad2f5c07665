// Amazon EC2, and servers that speak its API: one cloud for each account and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of the Query API (api.h), one for each request but
// where a request takes several. Everything that is made carries tags by which it is found again, whatever
// becomes of the answer (docs/decisions/0014-ec2.md).
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/aws/services.h"
#include "common/environment.h"
#include "runtime/clouds/cloud_set.h"
#include "runtime/clouds/provider.h"
#include "runtime/clouds/timing.h"

namespace radl::ec2 {

// In the list of all: runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  std::shared_ptr<const aws::Configuration> configuration;
  // Of an account by its name; "": the default one. Invalid: there is no such account.
  std::function<Result<std::shared_ptr<aws::CredentialSource>>(const std::string& account)> credentials;
  // CloudFamily::has_credentials
  std::function<bool(const std::string& account)> has_credentials;
  std::string default_region;  // empty: none is configured
  // What asks for little is there at once (groups, keys); machines take longer, and are looked at more rarely
  // the longer.
  Timing timing{std::chrono::seconds(60), {std::chrono::milliseconds(20), std::chrono::seconds(5)}};
  // The address, as a CIDR, that this computer is seen under from outside; empty: asked for when it is
  // needed.
  std::string caller;
};

// The environment's and the shared files' settings; `client` outlives what is made of them.
// RADL_EC2_SETTLES_AFTER and RADL_EC2_PACE (seconds) are for servers that are quicker to show what was made;
// RADL_CALLER_CIDR says what SSH is opened for.
Result<Options> options_of(http::Client& http);

// `load` is called when a cloud of the family is first asked for: a run that needs none reads nothing of
// AWS's.
using LoadOptions = std::function<Result<Options>(http::Client& http)>;
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of);

}  // namespace radl::ec2

// Amazon EC2, and servers that speak its API: one cloud for each account and region.
//
// In: the requests of runtime/clouds/cloud.h. Out: calls of the Query API (api.h), one per request except for
// requests that need several. Every resource has tags that identify it even if the response was lost
// (docs/decisions/0014-ec2.md).
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

// Listed in runtime/clouds/provider.h.
const CloudProvider& provider();

struct Options {
  std::shared_ptr<const aws::Configuration> configuration;
  // Credentials of an account; "": the default one. Invalid: no such account.
  std::function<Result<std::shared_ptr<aws::CredentialSource>>(const std::string& account)> credentials;
  // CloudFamily::has_credentials
  std::function<bool(const std::string& account)> has_credentials;
  std::string default_region;  // empty: none is configured
  // Groups and keys exist at once. Machines take longer, and are polled less and less often.
  Timing timing{std::chrono::seconds(60), {std::chrono::milliseconds(20), std::chrono::seconds(5)}};
  // The public address of this computer as a CIDR; empty: determined when needed.
  std::string caller;
};

// Reads the environment and the shared configuration files; `client` must outlive the result.
// RADL_EC2_SETTLES_AFTER and RADL_EC2_PACE (seconds) adapt to servers that show changes sooner.
// RADL_CALLER_CIDR sets the address that SSH is opened for.
Result<Options> options_of(http::Client& http);

// Called on the first request for a cloud of the family, so that other runs read no AWS files.
using LoadOptions = std::function<Result<Options>(http::Client& http)>;
std::unique_ptr<CloudFamily> make_family(const Environment& environment, LoadOptions load = options_of);

}  // namespace radl::ec2

// AWS settings besides credentials (profile, region, endpoints, certificates). Source: AWS SDKs and Tools
// Reference Guide, "Settings reference", "Service-specific endpoints".
#pragma once

#include <memory>
#include <string>

#include "common/aws/profiles.h"
#include "common/environment.h"
#include "common/status.h"

namespace radl::aws {

// Immutable after load(); thread-safe.
class Configuration {
 public:
  // An empty `profile` means AWS_PROFILE, else "default". Invalid: a malformed file; names file and line.
  // NotFound: neither file has the profile that was named explicitly.
  static Result<std::shared_ptr<const Configuration>> load(Lookup environment,
                                                           const std::string& profile = {});

  const std::string& profile() const { return profile_; }
  const Section* config_profile(const std::string& name) const;       // of the config file
  const Section* credentials_profile(const std::string& name) const;  // of the credentials file
  const Section* sso_session(const std::string& name) const;
  std::string environment(const std::string& name) const { return environment_(name); }
  std::string home() const;

  // Looks up a profile setting in environment variable `variable` ("": none), then the config file, then the
  // credentials file.
  std::string setting(const std::string& variable, const std::string& name) const;
  // From AWS_REGION, AWS_DEFAULT_REGION or the profile; "" if none is set. Invalid: malformed region name.
  Result<std::string> region() const;
  // The endpoint configured for a service ("ec2", "sso_oidc") by AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL, the
  // profile's `services` section or its `endpoint_url`. "" if none is configured or
  // AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true. Invalid: not an http or https URL, or FIPS or dual-stack
  // endpoints are requested but none is named.
  Result<std::string> configured_endpoint(const std::string& service) const;
  std::string ca_bundle() const;     // AWS_CA_BUNDLE, ca_bundle; "": the system's
  Result<int> max_attempts() const;  // AWS_MAX_ATTEMPTS, max_attempts; 0 if not set

 private:
  Result<std::string> named_endpoint(const std::string& service) const;

  Lookup environment_;
  std::string profile_;
  Sections config_, credentials_;
};

bool is_region_name(const std::string& text);
// "amazonaws.com", in China "amazonaws.com.cn", and so on.
std::string domain_of_region(const std::string& region);
// Amazon's own endpoint for a service: "https://ec2.eu-west-1.amazonaws.com", "https://iam.amazonaws.com".
std::string default_endpoint(const std::string& service, const std::string& region);
// Returns the configured endpoint, or else Amazon's own.
Result<std::string> endpoint_of(const Configuration& configuration, const std::string& service,
                                const std::string& region);

}  // namespace radl::aws

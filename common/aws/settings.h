// What the environment and AWS's shared files say besides keys: profile, region, endpoints, certificates.
// Source: AWS SDKs and Tools Reference Guide, "Settings reference" and "Service-specific endpoints".
#pragma once

#include <memory>
#include <string>

#include "common/aws/profiles.h"
#include "common/environment.h"
#include "common/status.h"

namespace radl::aws {

// Read once, then only asked; thread-safe.
class Configuration {
 public:
  // `profile`: "" for AWS_PROFILE, else "default". Invalid with file and line where a file cannot be
  // understood; NotFound for a profile that was asked for by name and is in neither file.
  static Result<std::shared_ptr<const Configuration>> load(Lookup environment,
                                                           const std::string& profile = {});

  const std::string& profile() const { return profile_; }
  const Section* config_profile(const std::string& name) const;       // of the config file
  const Section* credentials_profile(const std::string& name) const;  // of the credentials file
  const Section* sso_session(const std::string& name) const;
  std::string environment(const std::string& name) const { return environment_(name); }
  std::string home() const;

  // A setting of the profile: environment variable `variable` ("": none), else config file, else credentials
  // file.
  std::string setting(const std::string& variable, const std::string& name) const;
  // AWS_REGION, AWS_DEFAULT_REGION, the profile's; "" when none says. Invalid: no region's name.
  Result<std::string> region() const;
  // What is configured for a service ("ec2", "sso_oidc"), as AWS_ENDPOINT_URL_EC2, AWS_ENDPOINT_URL, the
  // profile's `services` section or its `endpoint_url`; "" when nothing is, or where
  // AWS_IGNORE_CONFIGURED_ENDPOINT_URLS is true. Invalid: no http or https URL, or nothing where FIPS or
  // dual-stack endpoints are asked for, which have to be named.
  Result<std::string> configured_endpoint(const std::string& service) const;
  std::string ca_bundle() const;     // AWS_CA_BUNDLE, ca_bundle; "" for the system's
  Result<int> max_attempts() const;  // AWS_MAX_ATTEMPTS, max_attempts; 0 when not set

 private:
  Result<std::string> named_endpoint(const std::string& service) const;

  Lookup environment_;
  std::string profile_;
  Sections config_, credentials_;
};

bool is_region_name(const std::string& text);
// "amazonaws.com", in China "amazonaws.com.cn", and so on.
std::string domain_of_region(const std::string& region);
// Amazon's own endpoint of a service: "https://ec2.eu-west-1.amazonaws.com", "https://iam.amazonaws.com".
std::string default_endpoint(const std::string& service, const std::string& region);
// The configured endpoint or Amazon's own.
Result<std::string> endpoint_of(const Configuration& configuration, const std::string& service,
                                const std::string& region);

}  // namespace radl::aws

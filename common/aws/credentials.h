// AWS credentials from the sources that AWS's own tools use, in their order, renewed before they expire.
// Source: AWS SDKs and Tools Reference Guide, "Standardized credential providers".
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/status.h"
#include "common/stop.h"

namespace radl::http {
class Client;
}

namespace radl::aws {

class Configuration;

struct Credentials {
  std::string access_key, secret_key, session_token;  // the token is "" for long-lived keys
  std::optional<std::time_t> expires;                 // nullopt if they never expire
  std::string origin;  // for messages: "environment", "profile x of /home/u/.aws/config"
  bool anonymous() const { return access_key.empty(); }  // requests are not signed
};

// Thread-safe. Caches credentials and renews them some minutes before they expire. One thread renews; the
// others keep using the current ones while they are valid.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  // Errors: Auth (refused, incomplete or expired; names the origin and the remedy), NotFound (no credentials
  // anywhere), Retry, Timeout, Cancelled. No error contains a key or token.
  virtual Result<Credentials> get(const Stop& stop) = 0;
  // Reports that a server called these credentials expired. The next get() renews them if it can.
  virtual void refused(const Credentials& credentials) = 0;
};

// Always returns these credentials.
std::shared_ptr<CredentialSource> fixed_credentials(Credentials credentials);

// Uses the first available source: environment, assumed role of the profile, web identity, SSO, credentials
// file, credential process, config file, container (ECS, EKS), instance metadata (version 2). A source that
// exists but is incomplete or refused is an error; the next one is not tried.
std::shared_ptr<CredentialSource> default_credentials(http::Client& http,
                                                      std::shared_ptr<const Configuration> configuration);

// True if the environment or files configure credentials. Contacts no server, not even the instance's
// metadata.
bool credentials_configured(const Configuration& configuration);

// Calls `fetch` when credentials are missing or about to expire, one call at a time.
std::shared_ptr<CredentialSource> renewed_credentials(
    std::function<Result<Credentials>(const Stop&)> fetch,
    std::function<std::time_t()> now = [] { return std::time(nullptr); });

}  // namespace radl::aws

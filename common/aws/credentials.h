// Who asks AWS: keys from wherever AWS's own tools take them, in their order, and new ones before they run
// out. Source: AWS SDKs and Tools Reference Guide, "Standardized credential providers".
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
  std::optional<std::time_t> expires;                 // nothing: never
  std::string origin;  // where they are from, in words: "environment", "profile x of /home/u/.aws/config"
  bool anonymous() const { return access_key.empty(); }  // requests are not signed
};

// Thread-safe. Keys are kept, and taken anew some minutes before they expire: by one thread, while the others
// go on with those that are still good.
class CredentialSource {
 public:
  virtual ~CredentialSource() = default;
  // Auth: refused, incomplete or run out, with where they are from and what to do; NotFound: there are none
  // anywhere; Retry, Timeout, Cancelled. No text holds a key or token.
  virtual Result<Credentials> get(const Stop& stop) = 0;
  // A server said that these have expired: the next get() gives others, if it can.
  virtual void refused(const Credentials& credentials) = 0;
};

// These keys and no others.
std::shared_ptr<CredentialSource> fixed_credentials(Credentials credentials);

// The first of these that there is: environment, assumed role of the profile, web identity, SSO, credentials
// file, credential process, config file, container (ECS, EKS), instance metadata (version 2). What is there
// and incomplete or refused is an error, and the next is not tried.
std::shared_ptr<CredentialSource> default_credentials(http::Client& http,
                                                      std::shared_ptr<const Configuration> configuration);

// Whether a call of these would find some, as far as environment and files tell: neither the instance's
// metadata nor any other server is asked.
bool credentials_configured(const Configuration& configuration);

// `fetch` is called when keys are needed or run out; one call at a time.
std::shared_ptr<CredentialSource> renewed_credentials(
    std::function<Result<Credentials>(const Stop&)> fetch,
    std::function<std::time_t()> now = [] { return std::time(nullptr); });

}  // namespace radl::aws

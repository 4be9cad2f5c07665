// Access tokens for Azure's services that are renewed before they end, by whatever kind of credential there
// is. Source: Microsoft identity platform documentation, "OAuth 2.0 client credentials flow", "Certificate
// credentials"; "How to use managed identities to acquire an access token".
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/azure/settings.h"
#include "common/http/http.h"
#include "common/http/rate.h"
#include "common/http/token.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::azure {

using http::Token;

// Thread-safe: several who need a token at the same time ask for one.
class Session {
 public:
  Session(http::Client& http, Settings settings);

  // A token for a service ("https://storage.azure.com/.default"; manager_scope()) that is good for some
  // minutes yet. Auth: the credential is refused, or what is wrong with it; never with a secret. Retry,
  // Timeout, Cancelled: nobody could be asked.
  Result<std::shared_ptr<const Token>> token(const std::string& scope, const Stop& stop);
  // A service has refused this token (401): the next call asks for another one.
  void refused(const std::string& scope, const std::shared_ptr<const Token>& token);

  const Settings& settings() const { return settings_; }
  const std::shared_ptr<http::Rate>& rate() const { return rate_; }  // of the Resource Manager
  http::Client& http() const { return http_; }

 private:
  Result<Token> ask(const Credential& one, const std::string& scope, const Stop& stop) const;
  http::RenewedToken& kept(const std::string& scope);

  http::Client& http_;
  const Settings settings_;
  const std::shared_ptr<http::Rate> rate_;
  std::mutex mutex_;
  std::map<std::string, http::RenewedToken> tokens_;  // by scope
};

}  // namespace radl::azure

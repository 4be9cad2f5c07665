// Access tokens for Azure services from any kind of credential, renewed before they expire. Source: Microsoft
// identity platform documentation, "OAuth 2.0 client credentials flow", "Certificate credentials"; "How to
// use managed identities to acquire an access token".
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

// Thread-safe. Concurrent callers share one token request.
class Session {
 public:
  Session(http::Client& http, Settings settings);

  // Returns a token for a service ("https://storage.azure.com/.default"; manager_scope()) that stays valid
  // for some minutes. Auth: the credential is invalid or refused; the error says why and never contains a
  // secret. Retry, Timeout, Cancelled: no response.
  Result<std::shared_ptr<const Token>> token(const std::string& scope, const Stop& stop);
  // Reports that a service refused this token (401). The next call requests another.
  void refused(const std::string& scope, const std::shared_ptr<const Token>& token);

  const Settings& settings() const { return settings_; }
  const std::shared_ptr<http::Rate>& rate() const { return rate_; }  // for the Resource Manager
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

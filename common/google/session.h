// Access tokens that are renewed before they end, by whatever kind of credential there is.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "common/google/settings.h"
#include "common/http/http.h"
#include "common/http/rate.h"
#include "common/http/token.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::google {

using http::Token;

// Thread-safe: several who need a token at the same time ask for one.
class Session {
 public:
  Session(http::Client& http, Settings settings);

  // A token that is good for some minutes yet. Auth: the credential is refused, or what is wrong with it;
  // never with a secret. Retry, Timeout, Cancelled: nobody could be asked.
  Result<std::shared_ptr<const Token>> token(const Stop& stop);
  // A service has refused this token (401): the next call asks for another one.
  void refused(const std::shared_ptr<const Token>& token);
  // The settings', else the metadata server's. Auth: none is named.
  Result<std::string> project(const Stop& stop);

  const Settings& settings() const { return settings_; }
  // Shared by all services.
  const std::shared_ptr<http::Rate>& rate() const { return rate_; }
  http::Client& http() const { return http_; }

 private:
  Result<Token> ask(const Credential& credential, const Stop& stop) const;

  http::Client& http_;
  const Settings settings_;
  const std::shared_ptr<http::Rate> rate_;
  http::RenewedToken token_;
  std::mutex mutex_;  // of project_
  std::string project_;
};

}  // namespace radl::google

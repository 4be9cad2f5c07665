// Access tokens from any kind of credential, renewed before they expire.
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

// Thread-safe. Concurrent callers share one token request.
class Session {
 public:
  Session(http::Client& http, Settings settings);

  // Returns a token that stays valid for some minutes. Auth: the credential is invalid or refused; the error
  // says why and never contains a secret. Retry, Timeout, Cancelled: no response.
  Result<std::shared_ptr<const Token>> token(const Stop& stop);
  // Reports that a service refused this token (401). The next call requests another.
  void refused(const std::shared_ptr<const Token>& token);
  // The project of the settings, else of the metadata server. Auth: neither names one.
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
  std::mutex mutex_;  // guards project_
  std::string project_;
};

}  // namespace radl::google

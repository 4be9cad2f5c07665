// OAuth 2.0 access tokens (RFC 6749): requested, cached and renewed before they expire.
#pragma once

#include <ctime>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/http/http.h"
#include "common/http/rate.h"
#include "common/status.h"
#include "common/stop.h"

namespace radl::http {

struct Token {
  std::string value;
  std::time_t expires = 0;  // seconds since 1970
};

// The part of a token service's error document that may be shown, and a hint. The description of a refused
// token may quote the token, so code that knows the service chooses what to show.
struct TokenRefusal {
  std::string said, hint;
};

// Requests tokens. Errors name `origin`, the URL and the text from `refusal`, and nothing that was sent.
class TokenRequests {
 public:
  using Form = std::vector<std::pair<std::string, std::string>>;
  using Explain = std::function<TokenRefusal(const nlohmann::json& document)>;

  TokenRequests(Client& http, std::shared_ptr<Rate> rate, std::string origin, Stop stop, Explain explain)
      : http_(http),
        rate_(std::move(rate)),
        origin_(std::move(origin)),
        stop_(std::move(stop)),
        explain_(std::move(explain)) {}

  // Returns the response document. Auth: refused. Retry, Timeout, Cancelled: no response.
  Result<nlohmann::json> send(Request request) const;
  // Same, for a plain-text response.
  Result<std::string> text(Request request) const;
  Result<nlohmann::json> post_form(const std::string& url, const Form& form, Headers headers = {}) const;

 private:
  // `as` extracts the result from a successful response; nullopt if the response is truncated or malformed.
  template <class T>
  Result<T> ask(Request request, const std::function<std::optional<T>(std::string& body)>& as) const;

  Client& http_;
  const std::shared_ptr<Rate> rate_;
  const std::string origin_;
  const Stop stop_;
  const Explain explain_;
};

// Parses {"access_token", and "expires_in" or "expires_on"}, numbers or strings. Auth: no token.
Result<Token> token_in(const nlohmann::json& document, const std::string& origin);

// Thread-safe. Concurrent callers share one token request.
class RenewedToken {
 public:
  // The current token if it is valid for five more minutes; otherwise a new one.
  Result<std::shared_ptr<const Token>> get(const std::function<Result<Token>()>& ask);
  // Reports that a service refused the token (401). The next call requests another.
  void refused(const std::shared_ptr<const Token>& token);

 private:
  std::mutex mutex_;
  std::shared_ptr<const Token> token_;
};

}  // namespace radl::http

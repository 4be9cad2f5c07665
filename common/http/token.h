// Access tokens of OAuth 2.0 (RFC 6749): asked for, kept, and renewed before they end.
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

// What may be shown of an error document of a token's service, and what to do about it. The description that
// comes with a refused token may quote it: what is shown is chosen by who knows the service.
struct TokenRefusal {
  std::string said, hint;
};

// Asks for tokens. Errors name `origin`, URL and what `refusal` says, and nothing that was sent.
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

  // The answer's document. Auth: refused; Retry, Timeout, Cancelled: nobody could be asked.
  Result<nlohmann::json> send(Request request) const;
  // The same where the answer is a text.
  Result<std::string> text(Request request) const;
  Result<nlohmann::json> post_form(const std::string& url, const Form& form, Headers headers = {}) const;

 private:
  // `as`: of a good answer what is wanted of it; nothing where it came apart on its way.
  template <class T>
  Result<T> ask(Request request, const std::function<std::optional<T>(std::string& body)>& as) const;

  Client& http_;
  const std::shared_ptr<Rate> rate_;
  const std::string origin_;
  const Stop stop_;
  const Explain explain_;
};

// Of {"access_token", "expires_in"} or {"access_token", "expires_on"}, numbers or texts. Auth: there is none.
Result<Token> token_in(const nlohmann::json& document, const std::string& origin);

// Thread-safe: several who need a token at the same time ask for one.
class RenewedToken {
 public:
  // The current token if it is valid for five more minutes; otherwise a new one.
  Result<std::shared_ptr<const Token>> get(const std::function<Result<Token>()>& ask);
  // A service has refused it (401): the next call asks for another one.
  void refused(const std::shared_ptr<const Token>& token);

 private:
  std::mutex mutex_;
  std::shared_ptr<const Token> token_;
};

}  // namespace radl::http

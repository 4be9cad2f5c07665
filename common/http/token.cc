#include "common/http/token.h"

#include <fmt/format.h>

#include <charconv>

#include "common/http/retry.h"
#include "common/http/url.h"
#include "common/json_values.h"
#include "common/shorten.h"

namespace radl::http {
namespace {

using json::parse_json;
using json::text_of;

// Renew before the token expires, because a long operation of the service keeps using it.
constexpr std::time_t kRenewBefore = 300;
constexpr size_t kLargestToken = 1 << 18;

// A number, also one that is written as a text.
double seconds_of(const nlohmann::json& document, const char* name) {
  const std::string text = text_of(document, name);
  if (text.empty()) return json::number_of(document, name, -1);
  double seconds = -1;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

}  // namespace

template <class T>
Result<T> TokenRequests::ask(Request request,
                             const std::function<std::optional<T>(std::string& body)>& as) const {
  request.follow_redirects = false;
  request.idempotent = true;  // one token more than is used does nothing
  request.largest_answer = kLargestToken;
  request.user_agent = "radlc (token)";
  request.rate = rate_;
  request.stop = stop_;
  Retries retries;
  retries.attempts = 5;
  const std::string what = fmt::format("{}: {}", origin_, printable_url(request.url));
  for (int again = 0;; ++again) {
    auto answer = http_.send(request, retries);
    if (!answer.ok()) return Status(answer.status()).at(origin_);
    if (answer->ok()) {
      if (std::optional<T> made = as(answer->body)) return std::move(*made);
      if (again < 3) continue;
      return Status(Code::Retry, what + ": the answer is no JSON");
    }
    if (answer->status == 429 || answer->status >= 500)
      return Status(Code::Retry, fmt::format("{}: HTTP status {}", what, answer->status));
    const TokenRefusal refusal = explain_(parse_json(answer->body));
    std::string said = shorten(refusal.said, 300);
    for (char& c : said)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    return Status(Code::Auth, fmt::format("{} refuses the credential (HTTP status {}){}", what,
                                          answer->status, said.empty() ? "" : ": " + said))
        .with_hint(refusal.hint);
  }
}

Result<nlohmann::json> TokenRequests::send(Request request) const {
  return ask<nlohmann::json>(std::move(request), [](std::string& body) -> std::optional<nlohmann::json> {
    nlohmann::json document = parse_json(body);
    if (!document.is_object()) return std::nullopt;
    return document;
  });
}

Result<std::string> TokenRequests::text(Request request) const {
  return ask<std::string>(std::move(request),
                          [](std::string& body) -> std::optional<std::string> { return std::move(body); });
}

Result<nlohmann::json> TokenRequests::post_form(const std::string& url, const Form& form,
                                                Headers headers) const {
  Request request;
  request.method = "POST";
  request.url = url;
  request.headers = std::move(headers);
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  request.body = query_string(form);
  return send(std::move(request));
}

Result<Token> token_in(const nlohmann::json& document, const std::string& origin) {
  Token token{text_of(document, "access_token"), 0};
  if (token.value.empty()) return Status(Code::Auth, origin + ": the answer has no access_token");
  double seconds = seconds_of(document, "expires_in");
  if (seconds < 0) {
    const double until = seconds_of(document, "expires_on");
    seconds = until < 0 ? 3600 : until - static_cast<double>(std::time(nullptr));
  }
  token.expires = std::time(nullptr) + static_cast<std::time_t>(seconds);
  return token;
}

Result<std::shared_ptr<const Token>> RenewedToken::get(const std::function<Result<Token>()>& ask) {
  std::lock_guard guard(mutex_);
  if (token_ && token_->expires - std::time(nullptr) > kRenewBefore) return token_;
  auto made = ask();
  if (!made.ok()) return made.status();
  token_ = std::make_shared<const Token>(std::move(*made));
  return token_;
}

void RenewedToken::refused(const std::shared_ptr<const Token>& token) {
  std::lock_guard guard(mutex_);
  if (token_ == token) token_.reset();
}

}  // namespace radl::http

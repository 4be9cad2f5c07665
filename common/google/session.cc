#include "common/google/session.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/files.h"
#include "common/google/jwt.h"
#include "common/http/retry.h"
#include "common/http/url.h"
#include "common/json_values.h"
#include "common/text.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;
using json::member;
using json::number_of;
using json::parse_json;
using json::text_of;
using Pairs = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kScope = "https://www.googleapis.com/auth/cloud-platform";
// Before a token's end: an operation of a service that takes a while goes on with it.
constexpr std::time_t kRenewBefore = 300;
constexpr size_t kLargestToken = 1 << 18;

// Asks for tokens. Errors name URL and OAuth's error code, and nothing that was sent.
class Asking {
 public:
  Asking(http::Client& http, const std::shared_ptr<http::Rate>& rate, std::string origin, const Stop& stop)
      : http_(http), rate_(rate), origin_(std::move(origin)), stop_(stop) {}

  Result<Json> send(http::Request request) const {
    request.follow_redirects = false;
    request.idempotent = true;  // one token more than is used does nothing
    request.largest_answer = kLargestToken;
    request.user_agent = "radlc (token)";
    request.rate = rate_;
    request.stop = stop_;
    http::Retries retries;
    retries.attempts = 5;
    const std::string what = fmt::format("{}: {}", origin_, http::printable_url(request.url));
    auto answer = http_.send(request, retries);
    for (int again = 0; again < 3 && answer.ok() && answer->ok() && parse_json(answer->body).is_null();
         ++again)
      answer = http_.send(request, retries);  // a body that came apart on its way
    if (!answer.ok()) return Status(answer.status()).at(origin_);
    Json document = parse_json(answer->body);
    if (answer->ok() && document.is_object()) return document;
    if (answer->ok()) return Status(Code::Retry, what + ": the answer is no JSON");
    return refusal(*answer, document, what);
  }

  Result<Json> post_form(const std::string& url, const Pairs& form, http::Headers headers = {}) const {
    http::Request request;
    request.method = "POST";
    request.url = url;
    request.headers = std::move(headers);
    request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
    request.body = http::query_string(form);
    return send(std::move(request));
  }

 private:
  // {"error": "invalid_grant", "error_description": ".."} or {"error": {"message": ..}}. The description of a
  // refused token may quote it: only Google's own form, with a message, is shown.
  Status refusal(const http::Response& answer, const Json& document, const std::string& what) const {
    if (answer.status == 429 || answer.status >= 500)
      return Status(Code::Retry, fmt::format("{}: HTTP status {}", what, answer.status));
    const std::string error = text_of(document, "error");
    const std::string message = text_of(member(document, "error"), "message");
    std::string said = error.empty() ? message : error;
    for (char& c : said)
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    Status refused(Code::Auth, fmt::format("{} refuses the credential (HTTP status {}){}", what,
                                           answer.status, said.empty() ? "" : ": " + said.substr(0, 300)));
    if (error == "invalid_grant")
      return std::move(refused).with_hint(
          "the login or key has ended or was removed, or this computer's clock is wrong: `gcloud auth "
          "application-default login`");
    return refused;
  }

  http::Client& http_;
  const std::shared_ptr<http::Rate>& rate_;
  const std::string origin_;
  const Stop& stop_;
};

Result<Token> token_in(const Json& document, const std::string& origin) {
  Token token{text_of(document, "access_token"), 0};
  const double seconds = number_of(document, "expires_in", 3600);
  if (token.value.empty()) return Status(Code::Auth, origin + ": the answer has no access_token");
  token.expires = std::time(nullptr) + static_cast<std::time_t>(seconds);
  return token;
}

// The token that somebody else gave, where the file says that it is.
Result<std::string> subject_token(const Asking& asking, const Credential& one) {
  std::string text;
  Json document;
  if (!one.subject_file.empty()) {
    auto read = read_file(one.subject_file, kLargestToken);
    if (!read.ok()) return Status(Code::Auth, one.origin + ": credential_source: " + read.status().message());
    text = trim(*read);
    if (!one.subject_field.empty()) document = parse_json(text);
  } else {
    http::Request request;
    request.url = one.subject_url;
    request.direct = true;
    for (const auto& [name, value] : one.subject_headers) request.headers.emplace_back(name, value);
    if (one.subject_field.empty())
      return Status(Code::Auth, one.origin + ": credential_source.url needs a format of type json");
    auto asked = asking.send(std::move(request));
    if (!asked.ok()) return asked.status();
    document = std::move(*asked);
  }
  if (!one.subject_field.empty()) text = text_of(document, one.subject_field);
  if (text.empty()) return Status(Code::Auth, one.origin + ": credential_source has no subject token");
  return text;
}

Result<Token> exchange(const Asking& asking, const Credential& one) {
  auto subject = subject_token(asking, one);
  if (!subject.ok()) return subject.status();
  http::Headers headers;
  if (!one.client_id.empty())
    headers.emplace_back("Authorization", "Basic " + base64_encode(one.client_id + ":" + one.client_secret));
  auto answer = asking.post_form(one.token_url,
                                 {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                                  {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                                  {"audience", one.audience},
                                  {"scope", kScope},
                                  {"subject_token_type", one.subject_token_type},
                                  {"subject_token", *subject}},
                                 std::move(headers));
  return answer.ok() ? token_in(*answer, one.origin) : Result<Token>(answer.status());
}

// IAM Credentials API, generateAccessToken.
Result<Token> impersonate(const Asking& asking, const Credential& one, const Token& by) {
  http::Request request;
  request.method = "POST";
  request.url = one.impersonation_url;
  request.headers = {{"Authorization", "Bearer " + by.value}, {"Content-Type", "application/json"}};
  request.body = Json{{"scope", {kScope}}, {"lifetime", "3600s"}}.dump();
  auto answer = asking.send(std::move(request));
  if (!answer.ok()) return answer.status();
  return token_in({{"access_token", text_of(*answer, "accessToken")}, {"expires_in", 3600}}, one.origin);
}

http::Request of_metadata(const Credential& one, const std::string& path) {
  http::Request request;
  request.url = "http://" + one.metadata_host + "/computeMetadata/v1/" + path;
  request.headers = {{"Metadata-Flavor", "Google"}};
  request.direct = true;
  request.connect_seconds = 3;
  return request;
}

}  // namespace

Session::Session(http::Client& http, Settings settings)
    : http_(http), settings_(std::move(settings)), rate_(std::make_shared<http::Rate>()) {}

Result<Token> Session::ask(const Credential& one, const Stop& stop) const {
  const Asking asking(http_, rate_, one.origin, stop);
  Result<Json> answer = Status(Code::Auth, "no Google Cloud credentials");
  switch (one.kind) {
    case Credential::Kind::None:
      return answer.status();
    case Credential::Kind::ServiceAccount: {
      auto assertion = signed_assertion(one, kScope, std::time(nullptr));
      if (!assertion.ok()) return assertion.status();
      answer = asking.post_form(one.token_url, {{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                                                {"assertion", *assertion}});
      break;
    }
    case Credential::Kind::AuthorizedUser:
      answer = asking.post_form(one.token_url, {{"grant_type", "refresh_token"},
                                                {"client_id", one.client_id},
                                                {"client_secret", one.client_secret},
                                                {"refresh_token", one.refresh_token}});
      break;
    case Credential::Kind::ExternalAccount: {
      auto token = exchange(asking, one);
      if (!token.ok() || one.impersonation_url.empty()) return token;
      return impersonate(asking, one, *token);
    }
    case Credential::Kind::Impersonated: {
      auto token = this->ask(*one.source, stop);
      return token.ok() ? impersonate(asking, one, *token) : token;
    }
    case Credential::Kind::Metadata:
      answer = asking.send(of_metadata(one, "instance/service-accounts/default/token"));
      break;
  }
  return answer.ok() ? token_in(*answer, one.origin) : Result<Token>(answer.status());
}

Result<std::shared_ptr<const Token>> Session::token(const Stop& stop) {
  std::lock_guard guard(mutex_);
  if (token_ && token_->expires - std::time(nullptr) > kRenewBefore) return token_;
  auto made = ask(settings_.credential, stop);
  if (!made.ok()) return made.status();
  token_ = std::make_shared<const Token>(std::move(*made));
  return token_;
}

void Session::refused(const std::shared_ptr<const Token>& token) {
  std::lock_guard guard(mutex_);
  if (token_ == token) token_.reset();
}

Result<std::string> Session::project(const Stop& stop) {
  if (!settings_.project.empty()) return settings_.project;
  std::lock_guard guard(mutex_);
  if (!project_.empty()) return project_;
  const Credential& one = settings_.credential;
  if (one.kind == Credential::Kind::Metadata) {
    http::Request request = of_metadata(one, "project/project-id");
    request.stop = stop;
    auto answer = http_.send(request, http::Retries{});
    if (!answer.ok()) return answer.status();
    if (answer->ok()) project_ = trim(answer->body.substr(0, 256));
  }
  if (!project_.empty()) return project_;
  return Status(Code::Auth, one.origin + " names no project, and machines belong to one")
      .with_hint("set CLOUDSDK_CORE_PROJECT, or `gcloud config set project NAME`");
}

}  // namespace radl::google

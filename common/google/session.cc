#include "common/google/session.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/files.h"
#include "common/google/aws_subject.h"
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

constexpr const char* kScope = "https://www.googleapis.com/auth/cloud-platform";
constexpr size_t kLargestToken = 1 << 18;

// {"error": "invalid_grant", "error_description": ".."} or {"error": {"message": ..}}. The description of a
// refused token may quote it: only Google's own form, with a message, is shown.
http::TokenRefusal explained(const Json& document) {
  const std::string error = text_of(document, "error");
  http::TokenRefusal refusal{error.empty() ? text_of(member(document, "error"), "message") : error, ""};
  if (error == "invalid_grant")
    refusal.hint =
        "The login or key has expired or was removed, or this computer's clock is wrong. Run `gcloud auth "
        "application-default login`.";
  return refusal;
}

// The subject token of the other issuer, from the source that the file names.
Result<std::string> subject_token(const http::TokenRequests& asking, const Credential& one) {
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
    if (one.subject_field.empty()) {
      auto asked = asking.text(std::move(request));
      if (!asked.ok()) return asked.status();
      text = trim(*asked);
    } else {
      auto asked = asking.send(std::move(request));
      if (!asked.ok()) return asked.status();
      document = std::move(*asked);
    }
  }
  if (!one.subject_field.empty()) text = text_of(document, one.subject_field);
  if (text.empty()) return Status(Code::Auth, one.origin + ": credential_source contains no subject token");
  return text;
}

http::Headers of_client(const Credential& one) {
  if (one.client_id.empty()) return {};
  return {{"Authorization", "Basic " + base64_encode(one.client_id + ":" + one.client_secret)}};
}

Result<Token> exchange(http::Client& http, const http::TokenRequests& asking, const Credential& one,
                       const Stop& stop) {
  auto subject = one.aws_url.empty() ? subject_token(asking, one) : aws_subject_token(http, one, stop);
  if (!subject.ok()) return subject.status();
  http::TokenRequests::Form form = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                                    {"requested_token_type", "urn:ietf:params:oauth:token-type:access_token"},
                                    {"audience", one.audience},
                                    {"scope", kScope},
                                    {"subject_token_type", one.subject_token_type},
                                    {"subject_token", *subject}};
  // The client knows the billed project, if there is one.
  if (!one.user_project.empty() && one.client_id.empty())
    form.emplace_back("options", Json{{"userProject", one.user_project}}.dump());
  auto answer = asking.post_form(one.token_url, form, of_client(one));
  return answer.ok() ? http::token_in(*answer, one.origin) : Result<Token>(answer.status());
}

// IAM Credentials API, generateAccessToken.
Result<Token> impersonate(const http::TokenRequests& asking, const Credential& one, const Token& by) {
  http::Request request;
  request.method = "POST";
  request.url = one.impersonation_url;
  request.headers = {{"Authorization", "Bearer " + by.value}, {"Content-Type", "application/json"}};
  Json body = {{"scope", {kScope}}, {"lifetime", std::to_string(one.impersonation_seconds) + "s"}};
  if (!one.delegates.empty()) body["delegates"] = one.delegates;
  request.body = body.dump();
  auto answer = asking.send(std::move(request));
  if (!answer.ok()) return answer.status();
  return http::token_in(
      {{"access_token", text_of(*answer, "accessToken")}, {"expires_in", one.impersonation_seconds}},
      one.origin);
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
  const http::TokenRequests asking(http_, rate_, one.origin, stop, explained);
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
    case Credential::Kind::WorkforceUser:
      answer = asking.post_form(one.token_url,
                                {{"grant_type", "refresh_token"}, {"refresh_token", one.refresh_token}},
                                of_client(one));
      break;
    case Credential::Kind::ExternalAccount: {
      auto token = exchange(http_, asking, one, stop);
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
  return answer.ok() ? http::token_in(*answer, one.origin) : Result<Token>(answer.status());
}

Result<std::shared_ptr<const Token>> Session::token(const Stop& stop) {
  return token_.get([&] { return ask(settings_.credential, stop); });
}

void Session::refused(const std::shared_ptr<const Token>& token) { token_.refused(token); }

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
  return Status(Code::Auth, one.origin + " names no project; every machine belongs to a project")
      .with_hint("Set CLOUDSDK_CORE_PROJECT, or run `gcloud config set project NAME`.");
}

}  // namespace radl::google

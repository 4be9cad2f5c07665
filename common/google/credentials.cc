// What is written in a key file or in application default credentials.
#include <fmt/format.h>

#include <algorithm>

#include "common/google/settings.h"
#include "common/http/url.h"
#include "common/json_values.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;
using json::member;
using json::text_of;

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";

// The fields that must be there, by what they are called; their values are not shown.
Status need(const Json& file, const std::string& origin, std::initializer_list<const char*> fields) {
  for (const char* field : fields)
    if (text_of(file, field).empty())
      return invalid(fmt::format("{}: lacks {}", origin, field))
          .with_hint(
              "Create a new one with `gcloud iam service-accounts keys create` or `gcloud auth "
              "application-default login`.");
  return {};
}

Status checked(const std::string& url, const std::string& origin, const char* field) {
  return http::parse_http_url(url, fmt::format("{}: {}", origin, field)).status();
}

Status take_token_uri(const Json& file, Credential& made) {
  made.token_url = text_of(file, "token_uri");
  if (made.token_url.empty()) made.token_url = kTokenUrl;
  return checked(made.token_url, made.origin, "token_uri");
}

Status take_service_account(const Json& file, Credential& made) {
  made.kind = Credential::Kind::ServiceAccount;
  if (Status right = need(file, made.origin, {"client_email", "private_key"}); !right.ok()) return right;
  made.account = text_of(file, "client_email");
  made.private_key = text_of(file, "private_key");
  made.key_id = text_of(file, "private_key_id");
  return take_token_uri(file, made);
}

Status take_user(const Json& file, Credential& made) {
  made.kind = Credential::Kind::AuthorizedUser;
  if (Status right = need(file, made.origin, {"client_id", "client_secret", "refresh_token"}); !right.ok())
    return right;
  made.client_id = text_of(file, "client_id");
  made.client_secret = text_of(file, "client_secret");
  made.refresh_token = text_of(file, "refresh_token");
  return take_token_uri(file, made);
}

// google.aip.dev/auth/4116: `gcloud auth application-default login --login-config`.
Status take_workforce_user(const Json& file, Credential& made) {
  made.kind = Credential::Kind::WorkforceUser;
  if (Status right = need(file, made.origin, {"token_url", "client_id", "client_secret", "refresh_token"});
      !right.ok())
    return right;
  made.token_url = text_of(file, "token_url");
  made.client_id = text_of(file, "client_id");
  made.client_secret = text_of(file, "client_secret");
  made.refresh_token = text_of(file, "refresh_token");
  return checked(made.token_url, made.origin, "token_url");
}

// {"environment_id": "aws1", "regional_cred_verification_url": "https://sts.{region}.amazonaws.com?..."}:
// keys and region are taken where AWS's tools take them, and not at the file's addresses.
Status take_aws(const Json& source, Credential& made) {
  if (text_of(source, "environment_id") != "aws1")
    return invalid(fmt::format("{}: credential_source: unknown environment_id '{}'; supported: aws1",
                               made.origin, text_of(source, "environment_id")));
  made.aws_url = text_of(source, "regional_cred_verification_url");
  if (made.aws_url.empty())
    return invalid(made.origin + ": credential_source lacks regional_cred_verification_url");
  std::string url = made.aws_url;
  if (const size_t at = url.find("{region}"); at != url.npos) url.replace(at, 8, "us-east-1");
  return checked(url, made.origin, "regional_cred_verification_url");
}

// google.aip.dev/auth/4117. Rejects tokens from programs ("executable"), because that would run a program
// chosen by the file.
Status take_external(const Json& file, Credential& made) {
  made.kind = Credential::Kind::ExternalAccount;
  if (Status right = need(file, made.origin, {"audience", "subject_token_type", "token_url"}); !right.ok())
    return right;
  made.audience = text_of(file, "audience");
  made.subject_token_type = text_of(file, "subject_token_type");
  made.token_url = text_of(file, "token_url");
  made.impersonation_url = text_of(file, "service_account_impersonation_url");
  made.client_id = text_of(file, "client_id");
  made.client_secret = text_of(file, "client_secret");
  if (Status right = checked(made.token_url, made.origin, "token_url"); !right.ok()) return right;
  if (!made.impersonation_url.empty())
    if (Status right = checked(made.impersonation_url, made.origin, "service_account_impersonation_url");
        !right.ok())
      return right;
  made.user_project = text_of(file, "workforce_pool_user_project");
  constexpr double kShortest = 600, kLongest = 43200;
  const double seconds = json::number_of(member(file, "service_account_impersonation"),
                                         "token_lifetime_seconds", made.impersonation_seconds);
  if (!(seconds >= kShortest && seconds <= kLongest))
    return invalid(made.origin + ": token_lifetime_seconds must be from 600 to 43200");
  made.impersonation_seconds = static_cast<int>(seconds);
  const Json& source = member(file, "credential_source");
  made.subject_file = text_of(source, "file");
  made.subject_url = text_of(source, "url");
  if (source.is_object() && source.contains("environment_id")) return take_aws(source, made);
  const Json& headers = member(source, "headers");
  if (headers.is_object())
    for (const auto& [name, value] : headers.items())
      if (value.is_string()) made.subject_headers[name] = value.get<std::string>();
  const Json& format = member(source, "format");
  if (text_of(format, "type") == "json") made.subject_field = text_of(format, "subject_token_field_name");
  if (made.subject_file.empty() == made.subject_url.empty())
    return invalid(made.origin +
                   ": credential_source must name a file, a url or AWS (environment_id); certificates and "
                   "programs are not supported as a source")
        .with_hint(
            "Let the program write its token into a file, and run `gcloud iam "
            "workload-identity-pools create-cred-config --credential-source-file FILE`.");
  return made.subject_url.empty() ? Status()
                                  : checked(made.subject_url, made.origin, "credential_source.url");
}

Status take(const Json& file, Credential& made, int depth);

Status take_impersonated(const Json& file, Credential& made, int depth) {
  made.kind = Credential::Kind::Impersonated;
  if (Status right = need(file, made.origin, {"service_account_impersonation_url"}); !right.ok())
    return right;
  made.impersonation_url = text_of(file, "service_account_impersonation_url");
  if (Status right = checked(made.impersonation_url, made.origin, "service_account_impersonation_url");
      !right.ok())
    return right;
  for (const Json& one : json::list_of(file, "delegates"))
    if (one.is_string()) made.delegates.push_back(one.get<std::string>());
  auto source = std::make_shared<Credential>();
  source->origin = made.origin + ", source_credentials";
  if (Status right = take(member(file, "source_credentials"), *source, depth + 1); !right.ok()) return right;
  made.source = std::move(source);
  return {};
}

Status take(const Json& file, Credential& made, int depth) {
  const std::string type = text_of(file, "type");
  if (type == "service_account") return take_service_account(file, made);
  if (type == "authorized_user") return take_user(file, made);
  if (type == "external_account") return take_external(file, made);
  if (type == "external_account_authorized_user") return take_workforce_user(file, made);
  if (type == "impersonated_service_account" && depth == 0) return take_impersonated(file, made, depth);
  if (file.contains("installed") || file.contains("web"))
    return invalid(made.origin + " contains an OAuth client ID, not credentials")
        .with_hint("Run `gcloud auth application-default login --client-id-file FILE`.");
  return invalid(
      fmt::format("{}: the type is not one of service_account, authorized_user, external_account, "
                  "external_account_authorized_user and impersonated_service_account",
                  made.origin));
}

}  // namespace

Result<Credential> parse_credential(const std::string& text, const std::string& origin,
                                    std::string* project) {
  const Json file = json::parse_json(text);
  if (!file.is_object())
    return invalid(origin + " is not a JSON object")
        .with_hint(
            "Use a JSON key (not P12 or PEM): `gcloud iam service-accounts keys "
            "create FILE`.");
  Credential made;
  made.origin = origin;
  if (Status taken = take(file, made, 0); !taken.ok()) return taken;
  if (project) *project = text_of(file, "project_id");
  return made;
}

}  // namespace radl::google

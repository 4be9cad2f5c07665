// Credentials of AWS IAM Identity Center ("SSO"), by the token that `aws sso login` keeps.
// Source: AWS IAM Identity Center Portal API (GetRoleCredentials) and OIDC API (CreateToken).
#include <openssl/evp.h>

#include <nlohmann/json.hpp>

#include "common/aws/providers.h"
#include "common/digest.h"
#include "common/files.h"

namespace radl::aws {
namespace {

using Json = nlohmann::json;

std::string sha1_hex(const std::string& text) {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), sum, &size, EVP_sha1(), nullptr) != 1) return {};
  return to_hex({reinterpret_cast<const char*>(sum), size});
}

Status log_in_again(const SsoProfile& sso, const std::string& why) {
  return Status(Code::Auth, sso.origin + ": " + why)
      .with_hint("Run `aws sso login --profile " + sso.profile + "`.");
}

// Refreshes a token that can be refreshed and rewrites the file, as AWS's tools do.
Status refresh(const Asking& asking, const SsoProfile& sso, const std::string& path, Json& token) {
  const auto registered_until = parse_time(text_of(token, "registrationExpiresAt"));
  if (text_of(token, "refreshToken").empty() || text_of(token, "clientId").empty() ||
      text_of(token, "clientSecret").empty() || (registered_until && *registered_until <= std::time(nullptr)))
    return log_in_again(sso, "its token has expired");
  auto endpoint = endpoint_of(asking.configuration, "sso_oidc", sso.region);
  if (!endpoint.ok()) return endpoint.status();
  http::Request request;
  request.method = "POST";
  request.url = *endpoint + "/token";
  request.headers = {{"Content-Type", "application/json"}};
  request.body = Json{{"clientId", text_of(token, "clientId")},
                      {"clientSecret", text_of(token, "clientSecret")},
                      {"grantType", "refresh_token"},
                      {"refreshToken", text_of(token, "refreshToken")}}
                     .dump();
  request.ca_file = asking.configuration.ca_bundle();
  request.stop = asking.stop;
  auto answer = asking.http.send(request);
  if (!answer.ok()) return Status(answer.status()).at(sso.origin);
  if (!answer->ok()) return log_in_again(sso, "its token could not be refreshed");
  const Json fresh = Json::parse(answer->body, nullptr, false);
  const std::string access = fresh.is_object() ? text_of(fresh, "accessToken") : "";
  if (access.empty()) return log_in_again(sso, "its token could not be refreshed");
  token["accessToken"] = access;
  if (auto again = text_of(fresh, "refreshToken"); !again.empty()) token["refreshToken"] = again;
  const auto life = fresh.find("expiresIn");
  token["expiresAt"] = utc_text(std::time(nullptr) +
                                (life != fresh.end() && life->is_number() ? life->get<std::time_t>() : 0));
  return write_file_atomic(path, token.dump(), 0600);
}

Result<std::string> access_token(const Asking& asking, const SsoProfile& sso) {
  const std::string key = sha1_hex(sso.session.empty() ? sso.start_url : sso.session),
                    path = asking.configuration.home() + "/.aws/sso/cache/" + key + ".json";
  auto text = read_file(path, 1 << 20);
  if (!text.ok()) return log_in_again(sso, "you are not logged in (" + path + " does not exist)");
  Json token = Json::parse(*text, nullptr, false);
  const auto expires = token.is_object() ? parse_time(text_of(token, "expiresAt")) : std::nullopt;
  if (!expires || text_of(token, "accessToken").empty())
    return log_in_again(sso, path + " contains no token");
  const std::time_t left = *expires - std::time(nullptr);
  if (left < 5 * 60) {
    Status refreshed = refresh(asking, sso, path, token);
    if (!refreshed.ok() && left <= 0) return refreshed;
  }
  return text_of(token, "accessToken");
}

}  // namespace

Result<Credentials> sso_credentials(const Asking& asking, const SsoProfile& sso) {
  auto token = access_token(asking, sso);
  if (!token.ok()) return token.status();
  auto endpoint = endpoint_of(asking.configuration, "sso", sso.region);
  if (!endpoint.ok()) return endpoint.status();
  http::Request request;
  request.url = *endpoint + "/federation/credentials?" +
                http::query_string({{"role_name", sso.role}, {"account_id", sso.account}});
  request.headers = {{"x-amz-sso_bearer_token", *token}};
  request.ca_file = asking.configuration.ca_bundle();
  request.follow_redirects = false;
  request.stop = asking.stop;
  auto answer = asking.http.send(request, http::Retries{});
  if (!answer.ok()) return Status(answer.status()).at(sso.origin);
  if (answer->status == 401) return log_in_again(sso, "its token is no longer accepted");
  if (!answer->ok())
    return Status(Code::Auth, sso.origin + ": role " + sso.role + " in account " + sso.account +
                                  " was denied: HTTP status " + std::to_string(answer->status));
  const Json json = Json::parse(answer->body, nullptr, false);
  const Json keys = json.is_object() ? json.value("roleCredentials", Json()) : Json();
  if (!keys.is_object()) return Status(Code::Auth, sso.origin + ": the answer holds no credentials");
  Credentials found{text_of(keys, "accessKeyId"),
                    text_of(keys, "secretAccessKey"),
                    text_of(keys, "sessionToken"),
                    {},
                    sso.origin};
  if (auto at = keys.find("expiration"); at != keys.end() && at->is_number_integer())
    found.expires = std::time_t(at->get<int64_t>() / 1000);
  if (found.access_key.empty() || found.secret_key.empty() || found.session_token.empty())
    return Status(Code::Auth, sso.origin + ": the answer holds no credentials");
  return found;
}

}  // namespace radl::aws

#include "common/azure/session.h"

#include <fmt/format.h>

#include "common/digest.h"
#include "common/files.h"
#include "common/http/url.h"
#include "common/json_values.h"
#include "common/jwt.h"
#include "common/process/process.h"
#include "common/shorten.h"
#include "common/text.h"

namespace radl::azure {
namespace {

using Json = nlohmann::json;
using json::member;
using json::text_of;
using Kind = Credential::Kind;

constexpr size_t kLargestToken = 1 << 18;
constexpr std::chrono::seconds kAz{60};
constexpr int kAssertionSeconds = 600;
constexpr const char* kJwtBearer = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

// The most frequent of Entra's error codes, with advice.
constexpr std::pair<const char*, const char*> kAdvice[] = {
    {"AADSTS7000215", "The client secret is wrong. Use the secret's value, not its ID."},
    {"AADSTS7000222", "The client secret has expired. Run `az ad app credential reset --id APP`."},
    {"AADSTS700016",
     "The tenant does not contain the application. Check AZURE_CLIENT_ID and AZURE_TENANT_ID."},
    {"AADSTS90002", "The tenant does not exist. Check AZURE_TENANT_ID."},
    {"AADSTS700027",
     "The application does not have this certificate. Run `az ad app credential reset --cert @FILE`."},
    {"AADSTS70021", "No federated credential of the application matches the token's issuer and subject."},
    {"AADSTS700024", "The assertion is not valid at this time. Check this computer's clock."},
    {"AADSTS50076", "The account needs a second factor. Run `az login`, or use a service principal."},
    {"AADSTS700082", "The login has expired. Run `az login`."},
    {"AADSTS70043", "The login has expired. Run `az login`."},
    {"AADSTS50126", "The user name or password is wrong."}};

// {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid client secret provided. .."}. The
// rest of the description may quote what was sent.
http::TokenRefusal explained(const Json& document) {
  http::TokenRefusal refusal{text_of(document, "error"), ""};
  const std::string description = text_of(document, "error_description");
  const std::string code = description.substr(0, description.find(':'));
  if (code.starts_with("AADSTS") && code.size() < 16) refusal.said += " (" + code + ")";
  for (const auto& [known, advice] : kAdvice)
    if (code == known) refusal.hint = advice;
  return refusal;
}

std::string resource_of(std::string scope) {
  if (scope.ends_with("/.default")) scope.resize(scope.size() - 9);
  return scope;
}

Result<std::string> certificate_assertion(const Credential& one, const std::string& url) {
  const std::string what = one.origin + ": the client certificate";
  auto thumbprint = certificate_thumbprint(one.certificate, what);
  if (!thumbprint.ok()) return thumbprint;
  const std::time_t now = std::time(nullptr);
  return signed_jwt({{"x5t", *thumbprint}},
                    {{"aud", url},
                     {"iss", one.client_id},
                     {"sub", one.client_id},
                     {"jti", to_hex(random_bytes(16))},
                     {"nbf", now},
                     {"iat", now},
                     {"exp", now + kAssertionSeconds}},
                    one.certificate, what);
}

Result<std::string> federated_assertion(const Credential& one) {
  auto text = read_file(one.token_file, kLargestToken);
  if (!text.ok()) return Status(Code::Auth, "AZURE_FEDERATED_TOKEN_FILE: " + text.status().message());
  std::string token(trim(*text));
  if (token.empty()) return Status(Code::Auth, "AZURE_FEDERATED_TOKEN_FILE: " + one.token_file + " is empty");
  return token;
}

const char* identity_version(Kind kind) {
  if (kind == Kind::Machine) return "2018-02-01";
  return kind == Kind::Arc ? "2020-06-01" : "2019-08-01";
}

http::Request of_managed_identity(const Credential& one, const std::string& scope) {
  http::TokenRequests::Form query = {{"api-version", identity_version(one.kind)},
                                     {"resource", resource_of(scope)}};
  if (!one.client_id.empty()) query.emplace_back("client_id", one.client_id);
  http::Request request;
  request.url = one.endpoint + "?" + http::query_string(query);
  request.headers = {one.kind == Kind::AppService
                         ? std::pair<std::string, std::string>("X-IDENTITY-HEADER", one.header)
                         : std::pair<std::string, std::string>("Metadata", "true")};
  request.direct = true;
  request.connect_seconds = 3;
  // A machine's metadata service responds so while it is being updated.
  if (one.kind == Kind::Machine)
    request.throttled = [](const http::Response& answer) {
      return answer.status == 404 || answer.status == 410 || answer.status == 429;
    };
  return request;
}

// `Basic realm=/var/opt/azcmagent/tokens/0a1b.key`: a caller that can read that file may have a token. Reads
// and sends no other file, whatever the response names.
Result<std::string> arc_key(const Credential& one, std::string_view challenge) {
  constexpr std::string_view kRealm = "Basic realm=";
  constexpr size_t kLargestKey = 4096;  // of the agent's own
  std::string path(challenge.starts_with(kRealm) ? trim(challenge.substr(kRealm.size())) : "");
  if (path.size() > 1 && path.front() == '"' && path.back() == '"') path = path.substr(1, path.size() - 2);
  const bool right = path.starts_with(one.key_folder) && path.ends_with(".key") &&
                     path.find('/', one.key_folder.size()) == path.npos;
  if (!right) return Status(Code::Auth, one.origin + ": the response names no key in " + one.key_folder);
  auto key = read_file(path, kLargestKey);
  if (!key.ok())
    return Status(Code::Auth, one.origin + ": " + key.status().message())
        .with_hint("Run radlc as root or as a member of the group himds.");
  return key;
}

// Source: Azure documentation, "Authenticate against Azure resources with Azure Arc-enabled servers".
Result<http::Request> of_arc(http::Client& http, const Credential& one, const std::string& scope,
                             const Stop& stop) {
  http::Request request = of_managed_identity(one, scope);
  request.stop = stop;
  auto asked = http.send(request, http::Retries{});
  if (!asked.ok()) return Status(asked.status()).at(one.origin);
  if (asked->status != 401)
    return Status(Code::Auth, fmt::format("{}: HTTP status {} instead of a request for a key", one.origin,
                                          asked->status));
  auto key = arc_key(one, asked->header("www-authenticate"));
  if (!key.ok()) return key.status();
  request.headers.emplace_back("Authorization", "Basic " + *key);
  return request;
}

// `az` prints {"accessToken": .., "expires_on": 1700000000, "expiresOn": "2026-01-01 12:00:00.000000"}.
Result<Token> of_az(const Environment& environment, const Credential& one, const std::string& subscription,
                    const std::string& scope, const Stop& stop) {
  std::vector<std::string> argv = {"az",   "account",    "get-access-token", "--output",
                                   "json", "--resource", resource_of(scope)};
  if (!subscription.empty())
    argv.insert(argv.end(), {"--subscription", subscription});
  else if (!one.tenant.empty())
    argv.insert(argv.end(), {"--tenant", one.tenant});
  auto done = run_process(environment, {.argv = argv,
                                        .directory = "/",
                                        .inherited = {"AZURE_CONFIG_DIR", "AZURE_EXTENSION_DIR", "PYTHON*"},
                                        .deadline = kAz,
                                        .stop = stop});
  if (!done.ok()) return Status(done.status()).at("az account get-access-token");
  const Json document = json::parse_json(done->out);
  const std::string token = text_of(document, "accessToken");
  if (done->exit_status != 0 || token.empty()) {
    // The last line describes the error, and does not contain a token.
    const auto lines = split(trim(done->err), '\n');
    return Status(Code::Auth, fmt::format("az account get-access-token failed with exit status {}: {}",
                                          done->exit_status, shorten(trim(lines.back()), 300)))
        .with_hint("Run `az login`.");
  }
  Json shown = {{"access_token", token}};
  if (document.contains("expires_on"))
    shown["expires_on"] = document["expires_on"];
  else
    shown["expires_in"] = 600;  // an older az tells the time of this place alone: it is asked again soon
  return http::token_in(shown, one.origin);
}

}  // namespace

Session::Session(http::Client& http, Settings settings)
    : http_(http), settings_(std::move(settings)), rate_(std::make_shared<http::Rate>()) {}

Result<Token> Session::ask(const Credential& one, const std::string& scope, const Stop& stop) const {
  // Not the Resource Manager's rate: that one is throttled apart.
  const http::TokenRequests asking(http_, nullptr, one.origin, stop, explained);
  const std::string url = settings_.site.authority + "/" +
                          (one.tenant.empty() ? "organizations" : one.tenant) + "/oauth2/v2.0/token";
  http::TokenRequests::Form form = {{"client_id", one.client_id}, {"scope", scope}};
  Result<std::string> assertion = std::string();
  switch (one.kind) {
    case Kind::None:
      return Status(Code::Auth, "no Azure credentials");
    case Kind::Az:
      return of_az(http_.environment(), one, settings_.subscription, scope, stop);
    case Kind::Machine:
    case Kind::AppService: {
      auto answer = asking.send(of_managed_identity(one, scope));
      if (!answer.ok() && answer.status().code() == Code::Auth && one.otherwise)
        return ask(*one.otherwise, scope, stop);
      return answer.ok() ? http::token_in(*answer, one.origin) : Result<Token>(answer.status());
    }
    case Kind::Arc: {
      auto request = of_arc(http_, one, scope, stop);
      if (!request.ok()) return request.status();
      auto answer = asking.send(std::move(*request));
      return answer.ok() ? http::token_in(*answer, one.origin) : Result<Token>(answer.status());
    }
    case Kind::Certificate:
      assertion = certificate_assertion(one, url);
      break;
    case Kind::Federated:
      assertion = federated_assertion(one);
      break;
    case Kind::Secret:
      form.emplace_back("client_secret", one.secret);
      break;
    case Kind::Login:
      form.insert(form.end(), {{"grant_type", "refresh_token"}, {"refresh_token", one.refresh_token}});
      break;
    case Kind::Password:
      form.insert(form.end(),
                  {{"grant_type", "password"}, {"username", one.username}, {"password", one.password}});
      break;
  }
  if (!assertion.ok()) return assertion.status();
  if (!assertion->empty())
    form.insert(form.end(), {{"client_assertion_type", kJwtBearer}, {"client_assertion", *assertion}});
  if (one.kind != Kind::Login && one.kind != Kind::Password)
    form.emplace_back("grant_type", "client_credentials");
  auto answer = asking.post_form(url, form);
  return answer.ok() ? http::token_in(*answer, one.origin) : Result<Token>(answer.status());
}

http::RenewedToken& Session::kept(const std::string& scope) {
  std::lock_guard guard(mutex_);
  return tokens_[scope];  // stays where it is
}

Result<std::shared_ptr<const Token>> Session::token(const std::string& scope, const Stop& stop) {
  return kept(scope).get([&] { return ask(settings_.credential, scope, stop); });
}

void Session::refused(const std::string& scope, const std::shared_ptr<const Token>& token) {
  kept(scope).refused(token);
}

}  // namespace radl::azure

#include "common/openstack/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "common/openstack/egi.h"
#include "common/openstack/values.h"
#include "common/shorten.h"
#include "common/text.h"

namespace radl::openstack {
namespace {

using Json = nlohmann::json;

// Renew before the token expires, because a long operation of the service keeps using it.
constexpr std::time_t kRenewBefore = 300;

// OpenStack Service Types Authority: official names, and those of older catalogues.
std::vector<std::string> names_of(const std::string& type) {
  if (type == "volume") return {"block-storage", "volumev3", "block-store", "volumev2", "volume"};
  if (type == "image") return {"image"};
  if (type == "object-store") return {"object-store"};
  return {type};
}

std::string hint_of(const Settings& settings) {
  if (settings.method == "oidc_access_token") return "Get a new access token; it is valid for an hour.";
  if (settings.method == "application_credential")
    return "It may have expired or been deleted. Run `openstack application credential list`.";
  if (settings.method == "token")
    return "Run `openstack token issue` to get a new token; it is valid for some hours.";
  return "Check user, password, domains and project with `openstack token issue`.";
}

}  // namespace

Session::Session(http::Client& http, Settings settings)
    : http_(http), settings_(std::move(settings)), rate_(std::make_shared<http::Rate>()) {}

Result<Token> Session::ask(const std::string& url, const std::string& body, const http::Headers& headers,
                           const Stop& stop) const {
  http::Request request;
  request.method = "POST";
  request.url = url;
  request.body = body;
  request.headers = headers;
  request.headers.emplace_back("Accept", "application/json");
  if (!body.empty()) request.headers.emplace_back("Content-Type", "application/json");
  request.idempotent = true;  // one token more than is used does nothing
  request.follow_redirects = false;
  request.ca_file = settings_.ca_file;
  request.user_agent = "radlc (identity; token)";
  request.rate = rate_;
  request.stop = stop;
  http::Retries retries;
  retries.attempts = 5;
  const std::string what = fmt::format("{}: Keystone ({})", settings_.origin, http::printable_url(url));
  auto answer = http_.send(request, retries);
  // Repeats the request if the body was truncated.
  for (int again = 0; again < 3 && answer.ok() && answer->ok() && parse_json(answer->body).is_null(); ++again)
    answer = http_.send(request, retries);
  if (!answer.ok()) {
    Status failed = Status(answer.status()).at(settings_.origin);
    if (failed.message().find("certificate is not trusted") == failed.message().npos) return failed;
    return std::move(failed).with_hint(
        "Set `cacert: FILE` in clouds.yaml, or OS_CACERT, to the cloud's certificate authority.");
  }
  // For an invalid token Keystone says "could not be found"; any other 404 means a wrong address.
  const std::string said = to_lower(text_of(member(parse_json(answer->body), "error"), "message"));
  const bool ended = answer->status == 404 && settings_.method == "token" && said.find("token") != said.npos;
  if (answer->status == 401 || ended)
    return Status(Code::Auth, what + " rejects the credentials").with_hint(hint_of(settings_));
  if (answer->status == 300 || answer->status == 404)
    return Status(Code::Auth, fmt::format("{} does not exist (HTTP status {})", what, answer->status))
        .with_hint("Set auth_url to the URL of Keystone, version 3, such as https://HOST:5000/v3.");
  if (!answer->ok()) {
    const Json error = member(parse_json(answer->body), "error");
    const std::string message = text_of(error, "message");
    if (message.empty()) return http::status_of(*answer, what);
    const Code code = answer->status >= 500 ? Code::Retry : Code::Auth;
    return Status(code, fmt::format("{}: HTTP status {}: {}", what, answer->status, shorten(message, 300)));
  }
  auto token = parse_token(answer->body, answer->header("x-subject-token"));
  return token.ok() ? std::move(token) : Result<Token>(std::move(token).status().at(what));
}

Status Session::look_up_site(const Stop& stop) {
  if (settings_.egi_site.empty() || site_known_) return {};
  auto site = find_egi_site(http_, settings_.egi_site, settings_.egi_vo, stop);
  if (!site.ok()) return Status(site.status()).at(settings_.origin);
  settings_.auth["auth_url"] = site->url;
  settings_.auth["project_id"] = site->project_id;
  site_known_ = true;
  return {};
}

Result<Token> Session::log_in(const Stop& stop) {
  if (Status known = look_up_site(stop); !known.ok()) return known;
  const std::string url = identity_url(settings_) + "/auth/tokens";
  std::string unscoped;
  if (settings_.method == "oidc_access_token") {
    auto federation = federation_url(settings_);
    if (!federation.ok()) return federation.status();
    auto first = ask(*federation, "", {{"Authorization", "Bearer " + settings_.of("access_token")}}, stop);
    if (!first.ok() || !has_scope(settings_)) return first;
    unscoped = first->id;
  }
  auto body = token_request(settings_, unscoped);
  if (!body.ok()) return body.status();
  return ask(url, body->dump(-1, ' ', false, Json::error_handler_t::replace), {}, stop);
}

Result<std::shared_ptr<const Token>> Session::token(const Stop& stop) {
  std::lock_guard guard(mutex_);
  const std::time_t now = std::time(nullptr);
  if (token_ && (token_->expires == 0 || token_->expires - now > kRenewBefore)) return token_;
  // One that Keystone gives for less than that is used to its end.
  if (token_ && settings_.method == "token" && token_->expires > now) return token_;
  auto made = log_in(stop);
  if (!made.ok()) return made.status();
  token_ = std::make_shared<const Token>(std::move(*made));
  return token_;
}

void Session::refused(const std::shared_ptr<const Token>& token) {
  std::lock_guard guard(mutex_);
  if (token_ == token) token_.reset();
}

Result<std::string> endpoint_in(const Token& token, const Settings& settings,
                                const std::vector<std::string>& types) {
  std::set<std::string> regions, interfaces;
  for (const std::string& type : types) {
    for (const Endpoint& one : token.catalog) {
      if (one.type != type) continue;
      const bool here = settings.region.empty() || one.region == settings.region;
      if (one.interface == settings.interface && here) {
        regions.insert(one.region);
        if (settings.region.empty() && regions.size() > 1)
          return invalid(fmt::format("{}: the cloud has several regions: {}", settings.origin,
                                     join(std::vector<std::string>(regions.begin(), regions.end()), ", ")))
              .with_hint("Set OS_REGION_NAME, or `region_name` in clouds.yaml.");
      } else {
        (here ? interfaces : regions).insert(here ? one.interface : one.region);
      }
    }
    if (settings.region.empty() && regions.empty()) continue;
    for (const Endpoint& one : token.catalog)
      if (one.type == type && one.interface == settings.interface &&
          (settings.region.empty() || one.region == settings.region))
        return one.url;
  }
  std::string there;
  if (!interfaces.empty())
    there = fmt::format(" with the interface {}; it has {}", settings.interface,
                        join(std::vector<std::string>(interfaces.begin(), interfaces.end()), ", "));
  else if (!regions.empty())
    there = fmt::format(" in region {}; it is in {}", settings.region,
                        join(std::vector<std::string>(regions.begin(), regions.end()), ", "));
  return not_found(
      fmt::format("{}: the cloud has no service of type {}{}", settings.origin, types.front(), there));
}

Result<std::string> Session::endpoint(const std::string& type, const Stop& stop) {
  const std::vector<std::string> types = names_of(type);
  auto known = token(stop);
  if (!known.ok()) return known.status();
  for (const std::string& name : types)
    if (auto given = settings_.endpoints.find(name); given != settings_.endpoints.end()) return given->second;
  if (auto given = settings_.endpoints.find(type); given != settings_.endpoints.end()) return given->second;
  auto found = endpoint_in(**known, settings_, types);
  // Without a project Keystone shows no services.
  return !found.ok() && (*known)->project_id.empty() ? no_project(settings_) : found;
}

Status no_project(const Settings& settings) {
  return Status(Code::Auth, settings.origin + " names no project; every machine belongs to a project")
      .with_hint("Set OS_PROJECT_NAME, or `project_name` in clouds.yaml.");
}

}  // namespace radl::openstack

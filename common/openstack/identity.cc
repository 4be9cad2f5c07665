#include "common/openstack/identity.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/http/url.h"
#include "common/openstack/values.h"
#include "common/text.h"
#include "common/utc.h"

namespace radl::openstack {
namespace {

using Json = nlohmann::json;

// {"id": ..} or {"name": ..}; null where neither is given.
Json domain_of(const Settings& settings, const std::string& what) {
  if (std::string id = settings.of(what + "_domain_id"); !id.empty()) return {{"id", id}};
  if (std::string name = settings.of(what + "_domain_name"); !name.empty()) return {{"name", name}};
  return nullptr;
}

Status lacking(const Settings& settings, const std::string& what) {
  return Status(Code::Auth, fmt::format("{}: lacks {}", settings.origin, what));
}

Result<Json> user_of(const Settings& settings, const char* what) {
  if (std::string id = settings.of("user_id"); !id.empty()) return Json{{"id", id}};
  const std::string name = settings.of("username");
  if (name.empty()) return lacking(settings, fmt::format("username ({})", what));
  Json domain = domain_of(settings, "user");
  if (domain.is_null()) domain = {{"id", "default"}};
  return Json{{"name", name}, {"domain", std::move(domain)}};
}

Result<Json> identity_of(const Settings& settings) {
  if (settings.method == "password") {
    auto user = user_of(settings, "the login's name");
    if (!user.ok()) return user;
    const std::string password = settings.of("password");
    if (password.empty()) return lacking(settings, "password");
    (*user)["password"] = password;
    return Json{{"methods", {"password"}}, {"password", {{"user", std::move(*user)}}}};
  }
  if (settings.method == "token") {
    if (settings.of("token").empty()) return lacking(settings, "token");
    return Json{{"methods", {"token"}}, {"token", {{"id", settings.of("token")}}}};
  }
  if (settings.method == "application_credential") {
    Json credential = {{"secret", settings.of("application_credential_secret")}};
    if (credential["secret"] == "") return lacking(settings, "application_credential_secret");
    if (std::string id = settings.of("application_credential_id"); !id.empty()) {
      credential["id"] = id;
    } else {
      credential["name"] = settings.of("application_credential_name");
      if (credential["name"] == "") return lacking(settings, "application_credential_id");
      auto user = user_of(settings, "needed with application_credential_name");
      if (!user.ok()) return user;
      credential["user"] = std::move(*user);
    }
    return Json{{"methods", {"application_credential"}}, {"application_credential", std::move(credential)}};
  }
  return invalid(fmt::format("{}: unsupported authentication method '{}'", settings.origin, settings.method));
}

Json scope_of(const Settings& settings) {
  if (std::string id = settings.of("project_id"); !id.empty()) return {{"project", {{"id", id}}}};
  if (std::string name = settings.of("project_name"); !name.empty()) {
    Json domain = domain_of(settings, "project");
    if (domain.is_null()) domain = domain_of(settings, "user");
    if (domain.is_null()) domain = {{"id", "default"}};
    return {{"project", {{"name", name}, {"domain", std::move(domain)}}}};
  }
  if (std::string id = settings.of("trust_id"); !id.empty()) return {{"OS-TRUST:trust", {{"id", id}}}};
  if (std::string id = settings.of("domain_id"); !id.empty()) return {{"domain", {{"id", id}}}};
  if (std::string name = settings.of("domain_name"); !name.empty()) return {{"domain", {{"name", name}}}};
  if (!settings.of("system_scope").empty()) return {{"system", {{"all", true}}}};
  return nullptr;
}

}  // namespace

bool has_scope(const Settings& settings) { return !scope_of(settings).is_null(); }

std::string identity_url(const Settings& settings) {
  std::string url = settings.of("auth_url");
  if (url.ends_with("/v2.0")) url.resize(url.size() - 5);
  return url.ends_with("/v3") ? url : url + "/v3";
}

Result<std::string> federation_url(const Settings& settings) {
  for (const char* key : {"identity_provider", "protocol", "access_token"})
    if (settings.of(key).empty()) return lacking(settings, key);
  return fmt::format("{}/OS-FEDERATION/identity_providers/{}/protocols/{}/auth", identity_url(settings),
                     http::percent_encode(settings.of("identity_provider")),
                     http::percent_encode(settings.of("protocol")));
}

Result<Json> token_request(const Settings& settings, const std::string& unscoped) {
  if (settings.of("auth_url").empty()) return lacking(settings, "auth_url");
  Json identity;
  if (!unscoped.empty()) {
    identity = {{"methods", {"token"}}, {"token", {{"id", unscoped}}}};
  } else {
    auto made = identity_of(settings);
    if (!made.ok()) return made;
    identity = std::move(*made);
  }
  Json request = {{"auth", {{"identity", std::move(identity)}}}};
  // An application credential has its project with it, and takes no other scope.
  const bool own_scope = unscoped.empty() && settings.method == "application_credential";
  if (Json scope = scope_of(settings); !scope.is_null() && !own_scope)
    request["auth"]["scope"] = std::move(scope);
  return request;
}

std::time_t parse_time(std::string_view text) {
  return std::max<std::time_t>(0, parse_utc(std::string(text.substr(0, 40))).value_or(0));
}

Result<Token> parse_token(std::string_view body, std::string_view subject_token) {
  const Json document = parse_json(body);
  const Json& token = member(document, "token");
  if (!token.is_object() || subject_token.empty())
    return Status(Code::Corrupt, "Keystone's response contains no token");
  Token made;
  made.id = subject_token;
  made.expires = parse_time(text_of(token, "expires_at"));
  made.user_id = text_of(member(token, "user"), "id");
  made.user_name = text_of(member(token, "user"), "name");
  const Json& project = member(token, "project");
  made.project_id = text_of(project, "id");
  made.project_name = text_of(project, "name");
  for (const Json& role : list_of(token, "roles")) made.roles.push_back(text_of(role, "name"));
  for (const Json& service : list_of(token, "catalog")) {
    for (const Json& endpoint : list_of(service, "endpoints")) {
      Endpoint one{text_of(service, "type"), text_of(service, "name"), text_of(endpoint, "region_id"),
                   text_of(endpoint, "interface"), text_of(endpoint, "url")};
      if (one.region.empty()) one.region = text_of(endpoint, "region");
      while (one.url.ends_with('/')) one.url.pop_back();
      if (!one.type.empty() && !one.url.empty()) made.catalog.push_back(std::move(one));
    }
  }
  return made;
}

}  // namespace radl::openstack

#include "common/openstack/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/http/url.h"
#include "common/text.h"

namespace radl::openstack {
namespace {

using Written = std::map<std::string, std::string>;

std::string value(const Written& written, const std::string& key) {
  auto found = written.find(key);
  return found == written.end() ? "" : found->second;
}

constexpr std::pair<const char*, const char*> kMethods[] = {
    {"", ""},
    {"password", "password"},
    {"v3password", "password"},
    {"token", "token"},
    {"v3token", "token"},
    {"v3applicationcredential", "application_credential"},
    {"v3oidcaccesstoken", "oidc_access_token"},
    {"none", "none"},
};

// Without an auth_type, the given keys determine the method.
std::string method_by_keys(const std::map<std::string, std::string>& auth) {
  if (auth.count("application_credential_secret")) return "application_credential";
  if (auth.count("access_token")) return "oidc_access_token";
  if (auth.count("password")) return "password";
  if (auth.count("token")) return "token";
  // For a missing secret, the settings that accompany it tell which one is meant.
  if (auth.count("application_credential_id") || auth.count("application_credential_name"))
    return "application_credential";
  return auth.count("identity_provider") ? "oidc_access_token" : "password";
}

constexpr std::array kAuthKeys = {"auth_url",
                                  "username",
                                  "user_id",
                                  "password",
                                  "user_domain_name",
                                  "user_domain_id",
                                  "project_name",
                                  "project_id",
                                  "project_domain_name",
                                  "project_domain_id",
                                  "domain_name",
                                  "domain_id",
                                  "system_scope",
                                  "trust_id",
                                  "token",
                                  "application_credential_id",
                                  "application_credential_name",
                                  "application_credential_secret",
                                  "identity_provider",
                                  "protocol",
                                  "access_token",
                                  "default_domain_name",
                                  "default_domain_id",
                                  "tenant_name",
                                  "tenant_id"};

// Old names, and a domain that is meant for user and project.
void complete(std::map<std::string, std::string>& auth) {
  auto rename = [&](const char* old, const char* key) {
    auto found = auth.extract(old);
    if (found && !auth.count(key)) auth[key] = found.mapped();
  };
  rename("tenant_name", "project_name");
  rename("tenant_id", "project_id");
  for (const char* what : {"user", "project"}) {
    const std::string by_name = std::string(what) + "_domain_name", by_id = std::string(what) + "_domain_id";
    if (auth.count(by_name) || auth.count(by_id)) continue;
    if (auth.count("default_domain_id"))
      auth[by_id] = auth["default_domain_id"];
    else if (auth.count("default_domain_name"))
      auth[by_name] = auth["default_domain_name"];
  }
}

std::map<std::string, std::string> auth_of(const Written& written) {
  std::map<std::string, std::string> auth;
  for (const char* key : kAuthKeys) {
    std::string found = value(written, std::string("auth.") + key);
    if (found.empty()) found = value(written, key);
    if (!found.empty()) auth[key] = std::move(found);
  }
  complete(auth);
  return auth;
}

// "": the auth_type is unknown.
std::string method_of(const std::string& auth_type, const std::map<std::string, std::string>& auth) {
  for (const auto& [type, method] : kMethods)
    if (auth_type == type) return *method ? method : method_by_keys(auth);
  return "";
}

bool is_false(const std::string& text) {
  const std::string lower = to_lower(text);
  return lower == "false" || lower == "no" || lower == "0" || lower == "off";
}

Result<std::string> checked_url(const std::string& url, const std::string& from) {
  auto parsed = http::parse_http_url(url, from);
  if (!parsed.ok()) return parsed.status();
  std::string kept = url;
  while (kept.ends_with('/')) kept.pop_back();
  return kept;
}

}  // namespace

std::string Settings::of(const std::string& key) const { return value(auth, key); }

Written with_variables(Written written, const Written& variables) {
  for (const char* key : {"region_name", "interface", "cacert"})
    if (std::string said = value(variables, key); !said.empty()) written[key] = std::move(said);
  const auto auth = auth_of(written);
  const std::string method = method_of(to_lower(value(written, "auth_type")), auth);
  constexpr std::pair<const char*, const char*> kSecrets[] = {
      {"password", "password"},
      {"token", "token"},
      {"application_credential", "application_credential_secret"},
      {"oidc_access_token", "access_token"}};
  for (const auto& [of, key] : kSecrets)
    if (method == of && !auth.count(key) && variables.count(key)) written[key] = variables.at(key);
  constexpr std::array kScopes = {"project_name", "project_id", "trust_id",
                                  "domain_name",  "domain_id",  "system_scope"};
  if (std::any_of(kScopes.begin(), kScopes.end(), [&](const char* key) { return auth.count(key) > 0; }))
    return written;
  for (const char* key :
       {"project_name", "project_id", "tenant_name", "tenant_id", "project_domain_name", "project_domain_id"})
    if (variables.count(key) && !auth.count(key)) written[key] = variables.at(key);
  return written;
}

Result<Settings> settings_of(const Written& written, const std::string& name, const std::string& origin) {
  Settings settings;
  settings.name = name;
  settings.origin = origin;
  settings.auth = auth_of(written);
  const std::string type = to_lower(value(written, "auth_type"));
  settings.method = method_of(type, settings.auth);
  if (settings.method.empty())
    return invalid(
        fmt::format("{}: auth_type '{}' is not supported; supported: password, token, "
                    "v3applicationcredential and v3oidcaccesstoken",
                    origin, type));
  if (auto url = settings.auth.find("auth_url"); url != settings.auth.end()) {
    auto checked = checked_url(url->second, origin + ": auth_url");
    if (!checked.ok()) return checked.status();
    url->second = *checked;
  }
  settings.region = value(written, "region_name");
  if (settings.region.empty()) settings.region = value(written, "regions.0");
  if (settings.region.empty()) settings.region = value(written, "regions.0.name");
  if (std::string interface = to_lower(value(written, "interface")); !interface.empty()) {
    if (interface.ends_with("url")) interface.resize(interface.size() - 3);
    if (interface != "public" && interface != "internal" && interface != "admin")
      return invalid(fmt::format("{}: interface '{}': must be public, internal or admin", origin, interface));
    settings.interface = interface;
  }
  const std::string insecure = value(written, "insecure");
  if (is_false(value(written, "verify")) || (!insecure.empty() && !is_false(insecure)))
    return invalid(origin + ": `verify: false` is not supported; radlc always checks certificates")
        .with_hint("Set `cacert: FILE` or OS_CACERT to the cloud's certificate authority.");
  settings.ca_file = value(written, "cacert");
  if (!value(written, "cert").empty())
    return invalid(origin + ": client certificates (`cert`) are not supported");
  constexpr std::string_view kOverride = "_endpoint_override";
  for (const auto& [key, url] : written) {
    if (!key.ends_with(kOverride)) continue;
    auto checked = checked_url(url, origin + ": " + key);
    if (!checked.ok()) return checked.status();
    std::string service = key.substr(0, key.size() - kOverride.size());
    std::replace(service.begin(), service.end(), '_', '-');
    settings.endpoints[service] = *checked;
  }
  return settings;
}

}  // namespace radl::openstack

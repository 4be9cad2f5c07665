// What `az login` leaves in its folder.
#include <fmt/format.h>

#include <algorithm>

#include "common/azure/settings.h"
#include "common/files.h"
#include "common/ini.h"
#include "common/json_values.h"
#include "common/text.h"
#include "common/user_text.h"

#include <unistd.h>

namespace radl::azure {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::member;
using json::text_of;

constexpr size_t kLargestCache = 8 << 20;
constexpr const char* kAzClient = "04b07795-8ddb-461a-bbee-02f9e1bf7b46";  // az's own, public

std::string az_folder(const Lookup& environment) {
  const std::string named = environment("AZURE_CONFIG_DIR");
  return named.empty() ? environment("HOME") + "/.azure" : named;
}

// Null if the file is missing or not JSON. az writes a byte order mark at the start of some files.
Json read_json(const std::string& path) {
  auto text = read_file(path, kLargestCache);
  if (!text.ok()) return nullptr;
  return json::parse_json(without_mark(*text));
}

bool is_installed(const Lookup& environment) {
  const std::string path = environment("PATH");
  for (std::string_view folder : split(path, ':'))
    if (!folder.empty() && ::access((std::string(folder) + "/az").c_str(), X_OK) == 0) return true;
  return false;
}

struct Subscription {
  std::string id, tenant, user, user_type;
};

// The one that `az account set` chose, or that a variable names.
Subscription chosen(const Json& profile, const std::string& wanted, const std::string& tenant) {
  for (const Json& one : list_of(profile, "subscriptions")) {
    const std::string id = text_of(one, "id"), name = text_of(one, "name"), of = text_of(one, "tenantId");
    const bool right = wanted.empty() ? json::flag_of(one, "isDefault") : id == wanted || name == wanted;
    if (!right || (!tenant.empty() && of != tenant)) continue;
    return {id, of, text_of(member(one, "user"), "name"), text_of(member(one, "user"), "type")};
  }
  return {};
}

// A service principal that az has logged in: its entry has what it logs in with.
Result<bool> take_principal(const std::string& folder, const Subscription& one, Credential& made) {
  const Json entries = read_json(folder + "/service_principal_entries.json");
  if (!entries.is_array()) return false;
  for (const Json& entry : entries) {
    if (text_of(entry, "client_id") != one.user || text_of(entry, "tenant") != one.tenant) continue;
    made.client_id = one.user;
    made.secret = text_of(entry, "client_secret");
    const std::string certificate = text_of(entry, "certificate");
    if (!made.secret.empty()) {
      made.kind = Credential::Kind::Secret;
    } else if (!certificate.empty()) {
      auto read = read_certificate(certificate, "", "az login");
      if (!read.ok()) return read.status();
      made.kind = Credential::Kind::Certificate;
      made.certificate = std::move(*read);
    }
    return made.kind != Credential::Kind::None;
  }
  return false;
}

// {"Account": {..: {"username", "home_account_id"}}, "RefreshToken": {..: {"home_account_id", "secret"}}}
bool take_refresh_token(const std::string& folder, const Subscription& one, Credential& made) {
  const Json cache = read_json(folder + "/msal_token_cache.json");
  std::string account;
  for (const auto& [key, entry] : member(cache, "Account").items())
    if (to_lower(text_of(entry, "username")) == to_lower(one.user))
      account = text_of(entry, "home_account_id");
  for (const auto& [key, entry] : member(cache, "RefreshToken").items()) {
    if (account.empty() || text_of(entry, "home_account_id") != account) continue;
    made.kind = Credential::Kind::Login;
    made.client_id = text_of(entry, "client_id");
    if (made.client_id.empty()) made.client_id = kAzClient;
    made.refresh_token = text_of(entry, "secret");
  }
  return !made.refresh_token.empty();
}

}  // namespace

std::string az_setting(const Lookup& environment, const std::string& section, const std::string& name) {
  const std::string path = az_folder(environment) + "/config";
  auto text = read_user_text(path, kLargestCache);
  auto sections = text.ok() ? parse_ini(*text, path) : Result<std::vector<IniSection>>(text.status());
  return sections.ok() ? ini_value(*sections, section, name) : "";
}

Result<AzLogin> find_az_login(const Lookup& environment, const std::string& tenant) {
  const std::string folder = az_folder(environment);
  const std::string wanted(trim(environment("AZURE_SUBSCRIPTION_ID")));
  const Subscription one = chosen(read_json(folder + "/azureProfile.json"), wanted, tenant);
  if (one.id.empty())
    return not_found("no Azure credentials: AZURE_CLIENT_ID and AZURE_CLIENT_SECRET are not set, and " +
                     folder + "/azureProfile.json has no login" +
                     (wanted.empty() ? "" : " for the subscription in AZURE_SUBSCRIPTION_ID"))
        .with_hint(
            "Run `az login`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET and "
            "AZURE_SUBSCRIPTION_ID.");
  AzLogin login;
  login.subscription = one.id;
  Credential& made = login.credential;
  made.origin = "az login";
  made.tenant = one.tenant;
  if (is_installed(environment)) {
    made.kind = Credential::Kind::Az;
    return login;
  }
  const bool principal = one.user_type == "servicePrincipal";
  Result<bool> taken =
      principal ? take_principal(folder, one, made) : Result<bool>(take_refresh_token(folder, one, made));
  if (!taken.ok()) return taken.status();
  if (*taken) return login;
  return Status(Code::Auth,
                fmt::format("`az` is not in PATH, and {} contains no login in plain text", folder))
      .with_hint("Install `az`, or set AZURE_TENANT_ID, AZURE_CLIENT_ID and AZURE_CLIENT_SECRET.");
}

}  // namespace radl::azure

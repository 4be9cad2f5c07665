#include "common/azure/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "common/client_certificate.h"
#include "common/files.h"
#include "common/http/url.h"
#include "common/machine_identity.h"
#include "common/text.h"
#include "common/user_text.h"

namespace radl::azure {
namespace {

constexpr size_t kLargestFile = 1 << 20;
// Where Arc's agent lays keys down on Linux, and nowhere else.
constexpr const char* kArcKeys = "/var/opt/azcmagent/tokens/";
constexpr const char* kMachineHost = "http://169.254.169.254";
// The asset tag in the firmware of every Azure virtual machine.
constexpr const char* kAssetTag = "7783-7084-3265-9085-8269-3286-77";

const Site kSites[] = {
    {"AzureCloud", "https://login.microsoftonline.com", "https://management.azure.com"},
    {"AzureUSGovernment", "https://login.microsoftonline.us", "https://management.usgovcloudapi.net"},
    {"AzureChinaCloud", "https://login.chinacloudapi.cn", "https://management.chinacloudapi.cn"}};

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Site find_site(const Lookup& environment) {
  std::string authority = without_slash(first_set(environment, {"AZURE_AUTHORITY_HOST"}));
  if (!authority.empty() && authority.find("://") == authority.npos) authority = "https://" + authority;
  std::string name = first_set(environment, {"AZURE_CLOUD_NAME"});
  if (name.empty()) name = az_setting(environment, "cloud", "name");
  Site site = kSites[0];
  for (const Site& one : kSites)
    if (authority.empty() ? one.name == name : one.authority == authority) site = one;
  if (authority == "https://login.partner.microsoftonline.cn") site = kSites[2];
  if (!authority.empty()) site.authority = authority;
  if (std::string url = without_slash(first_set(environment, {"RADL_AZURE_ENDPOINT"})); !url.empty())
    site.manager = url;
  return site;
}

Status check_url(const std::string& url, const char* variable) {
  for (const Site& one : kSites)  // of which a plan would bring in libcurl for nothing
    if (url == one.authority || url == one.manager) return {};
  return http::parse_http_url(url, variable).status();
}

bool is_on_azure() {
  auto tag = read_file("/sys/class/dmi/id/chassis_asset_tag", 4096);
  return tag.ok() && trim(*tag) == kAssetTag;
}

Result<Credential> of_certificate(Credential made, const std::string& path, const std::string& password) {
  auto certificate = read_certificate(path, password, "AZURE_CLIENT_CERTIFICATE_PATH");
  if (!certificate.ok()) return certificate.status();
  made.kind = Credential::Kind::Certificate;
  made.certificate = std::move(*certificate);
  return made;
}

// A service principal of the variables; None: they name none.
Result<Credential> of_variables(const Lookup& environment) {
  Credential made;
  made.origin = "the environment";
  made.tenant = first_set(environment, {"AZURE_TENANT_ID"});
  made.client_id = first_set(environment, {"AZURE_CLIENT_ID"});
  made.secret = environment("AZURE_CLIENT_SECRET");
  const std::string certificate = environment("AZURE_CLIENT_CERTIFICATE_PATH");
  made.token_file = environment("AZURE_FEDERATED_TOKEN_FILE");
  if (made.secret.empty() && certificate.empty() && made.token_file.empty()) return Credential();
  for (const auto& [name, value] :
       {std::pair("AZURE_CLIENT_ID", made.client_id), std::pair("AZURE_TENANT_ID", made.tenant),
        std::pair("AZURE_CLIENT_SECRET", made.secret)})
    if (Status plain = check_one_line(name, value); !plain.ok()) return plain;
  for (const auto& [name, value] :
       {std::pair("AZURE_CLIENT_ID", made.client_id), std::pair("AZURE_TENANT_ID", made.tenant)})
    if (value.empty())
      return invalid(std::string(name) + " is not set but " +
                     (!made.secret.empty()   ? "AZURE_CLIENT_SECRET"
                      : !certificate.empty() ? "AZURE_CLIENT_CERTIFICATE_PATH"
                                             : "AZURE_FEDERATED_TOKEN_FILE") +
                     " is; a service principal needs both");
  if (made.tenant.find_first_of("/?# ") != made.tenant.npos)
    return invalid("AZURE_TENANT_ID is not a tenant");
  if (!made.secret.empty())
    made.kind = Credential::Kind::Secret;
  else if (!certificate.empty())
    return of_certificate(std::move(made), certificate, environment("AZURE_CLIENT_CERTIFICATE_PASSWORD"));
  else
    made.kind = Credential::Kind::Federated;
  return made;
}

Credential of_managed_identity(const Lookup& environment) {
  Credential made;
  if (!machine_identity_is_open(environment)) return made;
  made.client_id = first_set(environment, {"AZURE_CLIENT_ID"});
  made.endpoint = first_set(environment, {"IDENTITY_ENDPOINT"});
  made.header = environment("IDENTITY_HEADER");
  if (!made.endpoint.empty() && !made.header.empty()) {
    made.kind = Credential::Kind::AppService;
    made.origin = "the managed identity (IDENTITY_ENDPOINT)";
    return made;
  }
  if (!made.endpoint.empty() && !first_set(environment, {"IMDS_ENDPOINT"}).empty()) {
    made.kind = Credential::Kind::Arc;
    made.origin = "the managed identity of Azure Arc (IDENTITY_ENDPOINT)";
    made.client_id.clear();  // such a machine has one identity
    made.key_folder = kArcKeys;
    return made;
  }
  const std::string host = without_slash(first_set(environment, {"AZURE_POD_IDENTITY_AUTHORITY_HOST"}));
  if (host.empty() && !is_on_azure()) return Credential();
  made.kind = Credential::Kind::Machine;
  made.origin = "the managed identity of this machine";
  made.endpoint = (host.empty() ? kMachineHost : host) + std::string("/metadata/identity/oauth2/token");
  return made;
}

}  // namespace

Result<std::string> read_certificate(const std::string& path, const std::string& password,
                                     const std::string& origin) {
  auto file = read_file(path, kLargestFile);
  if (!file.ok()) return invalid(origin + ": " + file.status().message());
  auto plain = plain_certificate(*file, password, origin + ": " + path);
  if (plain.ok() || !plain.status().hint().empty()) return plain;
  return Status(plain.status())
      .with_hint(
          "Use a PEM or PKCS#12 file with the private key and its certificate, and set its password in "
          "AZURE_CLIENT_CERTIFICATE_PASSWORD.");
}

Status check_subscription(const std::string& id, const std::string& origin) {
  const bool may_be =
      std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isalnum(c) || c == '-'; });
  if (may_be) return {};
  return invalid(fmt::format("{} = '{}' is not the ID of a subscription", origin, id))
      .with_hint("Run `az account list` to see the IDs.");
}

std::string manager_scope(const Site& site) {
  // A server of the user's (RADL_AZURE_ENDPOINT) replaces the site's.
  for (const Site& one : kSites)
    if (one.name == site.name) return one.manager + "/.default";
  return site.manager + "/.default";
}

Settings load_places(const Lookup& environment) {
  Settings settings;
  settings.site = find_site(environment);
  settings.subscription = first_set(environment, {"AZURE_SUBSCRIPTION_ID"});
  settings.location = first_set(environment, {"AZURE_DEFAULTS_LOCATION", "AZURE_LOCATION"});
  if (settings.location.empty()) settings.location = az_setting(environment, "defaults", "location");
  settings.location = to_lower(settings.location);
  std::erase(settings.location, ' ');  // "West Europe", as the portal shows it
  return settings;
}

Result<Settings> load_settings(const Lookup& environment) {
  Settings settings = load_places(environment);
  if (Status right = check_url(settings.site.authority, "AZURE_AUTHORITY_HOST"); !right.ok()) return right;
  if (Status right = check_url(settings.site.manager, "RADL_AZURE_ENDPOINT"); !right.ok()) return right;
  auto variables = of_variables(environment);
  if (!variables.ok()) return variables.status();
  settings.credential = std::move(*variables);
  if (settings.credential.kind == Credential::Kind::None)
    settings.credential = of_managed_identity(environment);
  const Credential::Kind found = settings.credential.kind;
  const Status right = check_subscription(settings.subscription, "AZURE_SUBSCRIPTION_ID");
  if (found != Credential::Kind::None && found != Credential::Kind::Machine)
    return right.ok() ? Result<Settings>(std::move(settings)) : right;
  auto login = find_az_login(environment, first_set(environment, {"AZURE_TENANT_ID"}));
  if (found == Credential::Kind::None) {
    if (!login.ok()) return login.status();
    settings.credential = std::move(login->credential);
  } else if (login.ok()) {
    settings.credential.otherwise = std::make_shared<const Credential>(std::move(login->credential));
  }
  // az takes a subscription's name as well: its profile has the id.
  if (login.ok()) settings.subscription = login->subscription;
  if (!login.ok() && !right.ok()) return right;
  return settings;
}

}  // namespace radl::azure

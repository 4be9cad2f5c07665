#include "common/google/settings.h"

#include <fmt/format.h>

#include "common/files.h"
#include "common/http/url.h"
#include "common/ini.h"
#include "common/machine_identity.h"
#include "common/text.h"
#include "common/user_text.h"

namespace radl::google {
namespace {

constexpr const char* kComputeUrl = "https://compute.googleapis.com/compute/v1/";
constexpr size_t kLargestFile = 1 << 20;

std::string gcloud_folder(const Lookup& environment) {
  if (std::string folder = environment("CLOUDSDK_CONFIG"); !folder.empty()) return folder;
  return environment("HOME") + "/.config/gcloud";
}

// gcloud's active configuration; nothing where it cannot be read.
std::vector<IniSection> properties(const Lookup& environment) {
  const std::string folder = gcloud_folder(environment);
  std::string name = environment("CLOUDSDK_ACTIVE_CONFIG_NAME");
  if (name.empty()) {
    auto active = read_file(folder + "/active_config", kLargestFile);
    name = active.ok() ? std::string(trim(*active)) : "default";
  }
  const std::string path = folder + "/configurations/config_" + name;
  auto text = read_user_text(path, kLargestFile);
  auto sections = text.ok() ? parse_ini(*text, path) : Result<std::vector<IniSection>>(text.status());
  return sections.ok() ? std::move(*sections) : std::vector<IniSection>();
}

// Checks the machine's firmware, like Google's libraries.
bool is_on_google(const Lookup& environment) {
  if (!machine_identity_is_open(environment)) return false;
  if (!environment("GCE_METADATA_HOST").empty()) return true;
  auto name = read_file("/sys/class/dmi/id/product_name", 4096);
  return name.ok() && (trim(*name) == "Google" || trim(*name) == "Google Compute Engine");
}

Result<Credential> find_credential(const Lookup& environment, std::string& project) {
  std::string path = environment("GOOGLE_APPLICATION_CREDENTIALS");
  const std::string usual = gcloud_folder(environment) + "/application_default_credentials.json";
  const bool named = !path.empty();
  if (!named) path = usual;
  auto text = read_file(path, kLargestFile);
  if (text.ok()) return parse_credential(*text, path, &project);
  if (named) return invalid("GOOGLE_APPLICATION_CREDENTIALS: " + text.status().message());
  if (text.status().code() != Code::NotFound) return text.status();
  if (is_on_google(environment)) {
    Credential machine;
    machine.kind = Credential::Kind::Metadata;
    machine.origin = "the metadata server";
    machine.metadata_host = environment("GCE_METADATA_HOST");
    if (machine.metadata_host.empty()) machine.metadata_host = "metadata.google.internal";
    return machine;
  }
  return not_found(
             "no Google Cloud credentials: GOOGLE_APPLICATION_CREDENTIALS names no file, and this file does "
             "not exist: " +
             usual)
      .with_hint(
          "Run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to a service "
          "account's key file.");
}

}  // namespace

std::string region_of_zone(const std::string& zone) {
  const size_t dash = zone.rfind('-');
  return dash == zone.npos || dash + 2 != zone.size() ? "" : zone.substr(0, dash);
}

Settings load_places(const Lookup& environment) {
  Settings settings;
  const std::vector<IniSection> written = properties(environment);
  settings.project =
      first_set(environment, {"CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT"});
  if (settings.project.empty()) settings.project = ini_value(written, "core", "project");
  settings.zone = first_set(environment, {"CLOUDSDK_COMPUTE_ZONE", "GOOGLE_CLOUD_ZONE"});
  settings.region = first_set(environment, {"CLOUDSDK_COMPUTE_REGION", "GOOGLE_CLOUD_REGION"});
  // A variable's region is not joined by a file's zone of another one.
  if (settings.zone.empty() && settings.region.empty()) {
    settings.zone = ini_value(written, "compute", "zone");
    settings.region = ini_value(written, "compute", "region");
  }
  if (settings.region.empty()) settings.region = region_of_zone(settings.zone);
  if (region_of_zone(settings.zone) != settings.region) settings.zone.clear();
  settings.compute_url = environment("CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE");
  if (settings.compute_url.empty())
    settings.compute_url = ini_value(written, "api_endpoint_overrides", "compute");
  if (settings.compute_url.empty()) settings.compute_url = kComputeUrl;
  if (!settings.compute_url.ends_with('/')) settings.compute_url += '/';
  return settings;
}

Result<Settings> load_settings(const Lookup& environment) {
  Settings settings = load_places(environment);
  // Not of the usual one, for which a plan would bring in libcurl for nothing.
  if (settings.compute_url != kComputeUrl)
    if (auto url = http::parse_http_url(settings.compute_url, "CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE");
        !url.ok())
      return url.status();
  std::string project;
  auto credential = find_credential(environment, project);
  if (!credential.ok()) return credential.status();
  settings.credential = std::move(*credential);
  if (settings.project.empty()) settings.project = project;
  return settings;
}

}  // namespace radl::google

// Azure settings and credentials, from the variables and files that Azure's libraries and `az` read, in their
// order. Source: Azure SDK documentation, "Credential chains" (DefaultAzureCredential) and "Environment
// variables"; Azure CLI documentation, "Azure CLI configuration".
#pragma once

#include <string>

#include "common/azure/credentials.h"
#include "common/environment.h"
#include "common/status.h"

namespace radl::azure {

// One of Microsoft's clouds. URLs have no trailing '/'.
struct Site {
  std::string name;       // "AzureCloud", "AzureUSGovernment", "AzureChinaCloud"
  std::string authority;  // "https://login.microsoftonline.com"
  std::string manager;    // "https://management.azure.com"
};

struct Settings {
  Credential credential;
  Site site;
  std::string subscription;  // "": the only one that the credential can access
  std::string location;      // "westeurope"; "" if not configured
};

// Uses AZURE_CLIENT_ID with AZURE_CLIENT_SECRET, AZURE_CLIENT_CERTIFICATE_PATH or
// AZURE_FEDERATED_TOKEN_FILE; else the managed identity of this machine or service; else az's login, which
// is also the fallback if this machine turns out to have no identity. Does not access the network.
// NotFound: no credential. Invalid: a variable or file is unusable; the error names it. Errors never
// contain secrets.
Result<Settings> load_settings(const Lookup& environment);
// Like load_settings(), but without a credential: enough for a plan.
Settings load_places(const Lookup& environment);

// Scope of the Resource Manager's tokens: "https://management.azure.com/.default".
std::string manager_scope(const Site& site);

// Invalid if `id`, which comes from `origin`, is a name instead of an ID.
Status check_subscription(const std::string& id, const std::string& origin);

// Internal to common/azure: reads private key and certificate from a file and returns them as unencrypted
// PEM. Invalid: names `origin` and the file.
Result<std::string> read_certificate(const std::string& path, const std::string& password,
                                     const std::string& origin);

// Internal to common/azure: az's login (az_login.cc). Fields are "" if az's folder has none.
struct AzLogin {
  Credential credential;
  std::string subscription;
};
Result<AzLogin> find_az_login(const Lookup& environment, const std::string& tenant);
// Setting ["cloud", "name"] of az's configuration; "" if missing.
std::string az_setting(const Lookup& environment, const std::string& section, const std::string& name);

}  // namespace radl::azure

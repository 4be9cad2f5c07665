// How Azure is reached and by whom: the variables and files of Azure's own libraries and of `az`, in the
// order in which those look. Source: Azure SDK documentation, "Credential chains" (DefaultAzureCredential)
// and "Environment variables"; Azure CLI documentation, "Azure CLI configuration".
#pragma once

#include <string>

#include "common/azure/credentials.h"
#include "common/environment.h"
#include "common/status.h"

namespace radl::azure {

// One of Microsoft's clouds. URLs without a '/' at their end.
struct Site {
  std::string name;       // "AzureCloud", "AzureUSGovernment", "AzureChinaCloud"
  std::string authority;  // "https://login.microsoftonline.com"
  std::string manager;    // "https://management.azure.com"
};

struct Settings {
  Credential credential;
  Site site;
  std::string subscription;  // "": the only one that the credential sees
  std::string location;      // "westeurope"; "": none is configured
};

// Credentials of AZURE_CLIENT_ID with AZURE_CLIENT_SECRET, with AZURE_CLIENT_CERTIFICATE_PATH, or with
// AZURE_FEDERATED_TOKEN_FILE; else the managed identity of this machine or service; else az's login, also
// where it turns out that this machine has no identity. Reads no
// network. NotFound: there is no credential; Invalid names the variable or file that cannot be used. Nothing
// of a secret is in an error.
Result<Settings> load_settings(const Lookup& environment);
// As above without a credential: what a plan needs.
Settings load_places(const Lookup& environment);

// "https://management.azure.com/.default": the scope of the Resource Manager's tokens.
std::string manager_scope(const Site& site);

// Invalid if `id`, which comes from `origin`, is a name instead of an ID.
Status check_subscription(const std::string& id, const std::string& origin);

// Internal to common/azure: private key and certificate of a file, in plain PEM. Invalid names `origin` and
// the file.
Result<std::string> read_certificate(const std::string& path, const std::string& password,
                                     const std::string& origin);

// Internal to common/azure: what az's login says (az_login.cc). "": az's folder has none.
struct AzLogin {
  Credential credential;
  std::string subscription;
};
Result<AzLogin> find_az_login(const Lookup& environment, const std::string& tenant);
// ["cloud", "name"] of az's configuration; "" if missing.
std::string az_setting(const Lookup& environment, const std::string& section, const std::string& name);

}  // namespace radl::azure

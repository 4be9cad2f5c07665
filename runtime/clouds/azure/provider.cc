#include "runtime/clouds/provider.h"

#include <memory>

#include "runtime/clouds/azure/account.h"
#include "runtime/clouds/azure/auth_lines.h"
#include "runtime/clouds/azure/azure_cloud.h"
#include "runtime/clouds/provider_parts.h"

namespace radl::azure {
namespace {

void add_clouds(const CloudSetup& setup, CloudSet& clouds) {
  auto load = [auth = setup.auth](http::Client& http) {
    return with_lines(options_of(http), auth, provider(), azure_settings);
  };
  add_with_accounts(setup, provider(), make_family(setup.environment, load), clouds);
}

Result<std::vector<CredentialEntry>> credentials(const CredentialSearch& search) {
  std::vector<CredentialEntry> entries;
  if (search.auth == nullptr) {
    auto settings = load_settings(search.environment);
    if (settings.ok() || settings.status().code() != Code::NotFound)
      entries.push_back(credential_entry(provider().type, provider(), std::move(settings), look_at_azure));
  }
  for (const AuthLine* line : lines_of(search.auth, provider()))
    entries.push_back(credential_entry(line->id, provider(),
                                       azure_settings(*search.auth, *line, load_places(search.environment)),
                                       look_at_azure));
  return entries;
}

}  // namespace

const CloudProvider& provider() {
  static const CloudProvider self = {.type = "azure",
                                     .other_names = {"azr", "az", "microsoft"},
                                     .image_schemes = {"azr"},
                                     .auth_types = {"Azure"},
                                     .no_lease = "Azure bills a machine that shuts itself down",
                                     .default_region = "eastus",
                                     .add_clouds = add_clouds,
                                     .credentials = credentials};
  return self;
}

}  // namespace radl::azure

#include "runtime/clouds/provider.h"

#include <algorithm>
#include <memory>

#include "runtime/clouds/openstack/account.h"
#include "runtime/clouds/openstack/auth_lines.h"
#include "runtime/clouds/openstack/openstack_cloud.h"
#include "runtime/clouds/provider_parts.h"

namespace radl::openstack {
namespace {

// From the auth file if that has lines for OpenStack, else as OpenStack's own tools find them. Clouds of
// clouds.yaml are accounts beside those of the file.
Result<Options> options_with(http::Client& http, const std::shared_ptr<const AuthFile>& auth) {
  Result<Options> options = options_of(http);
  if (!options.ok() || lines_of(auth.get(), provider()).empty()) return options;
  options->settings = [auth, other = options->settings](const std::string& account) -> Result<Settings> {
    auto line = line_of(*auth, provider(), account);
    return line.ok() ? openstack_settings(*auth, **line) : other(account);
  };
  return options;
}

// The names that a `deploy` may say: ids of the auth file, and clouds of clouds.yaml.
std::vector<std::string> accounts_of(const CloudSetup& setup) {
  std::vector<std::string> names;
  for (const AuthLine* line : lines_of(setup.auth.get(), provider())) names.push_back(line->id);
  // An unreadable file is reported when one of its clouds is requested.
  if (auto configuration = Configuration::load(setup.environment); configuration.ok())
    for (std::string& name : (*configuration)->names()) names.push_back(std::move(name));
  return names;
}

void add_clouds(const CloudSetup& setup, CloudSet& clouds) {
  auto load = [auth = setup.auth](http::Client& http) { return options_with(http, auth); };
  clouds.add(clouds.keep(make_family(setup.environment, load)));
  for (const std::string& name : accounts_of(setup))
    if (!clouds.knows(name))
      clouds.add_account(name, clouds.keep(make_family(setup.environment, load, name)));
}

Result<std::vector<CredentialEntry>> credentials(const CredentialSearch& search) {
  std::vector<CredentialEntry> entries;
  auto add = [&](const std::string& name, Result<Settings> settings) {
    entries.push_back(credential_entry(name, provider(), std::move(settings), look_at_openstack));
  };
  for (const AuthLine* line : lines_of(search.auth, provider()))
    add(line->id, openstack_settings(*search.auth, *line));
  if (search.auth != nullptr) return entries;
  auto configuration = Configuration::load(search.environment);
  if (!configuration.ok()) return configuration.status();
  const std::string chosen = search.environment("OS_CLOUD");
  std::vector<std::string> names = (*configuration)->names();
  if (!chosen.empty()) names = {chosen};
  for (const std::string& name : names) add(name, (*configuration)->cloud(name));
  return entries;
}

// The host of a line of EGI is the name of a site.
Status check_untrusted(const AuthFile&, const AuthLine& line) {
  return line.type == "EGI" ? Status() : check_addresses(line);
}

}  // namespace

const CloudProvider& provider() {
  static const CloudProvider self = {.type = "openstack",
                                     .other_names = {"nova"},
                                     .image_schemes = {"ost", "egi", "appdb"},
                                     .auth_types = {"OpenStack", "EGI"},
                                     .im_type = "OpenStack",
                                     .leases_nodes = true,
                                     .add_clouds = add_clouds,
                                     .credentials = credentials,
                                     .check_untrusted = check_untrusted};
  return self;
}

}  // namespace radl::openstack

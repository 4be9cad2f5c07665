// OpenStack settings and credentials, from clouds.yaml with secure.yaml and clouds-public.yaml, or
// from the variables OS_*, in the order of OpenStack's own tools. Source: openstacksdk
// documentation, "Configuring OpenStack SDK Applications"; python-openstackclient,
// "Authentication".
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/environment.h"
#include "common/status.h"

namespace radl::openstack {

// One cloud and its credentials. `auth` holds secrets: never print it.
struct Settings {
  std::string name;    // in clouds.yaml, "envvars" for the variables, or an auth file's id
  std::string origin;  // "cloud \"x\" of /etc/openstack/clouds.yaml", "the variables OS_*"
  std::string method;  // password, token, application_credential, oidc_access_token, none
  // Named as in Keystone's plugins: auth_url, username, user_id, password, user_domain_name, user_domain_id,
  // project_name, project_id, project_domain_name, project_domain_id, domain_name, domain_id, system_scope,
  // trust_id, token, application_credential_id, _name, _secret, identity_provider, protocol, access_token.
  std::map<std::string, std::string> auth;
  std::string region;                            // "": any region of the catalogue
  std::string interface = "public";              // public, internal, admin
  std::string ca_file;                           // "": the system's
  std::map<std::string, std::string> endpoints;  // service type -> URL that overrides the catalogue
  // An EGI site and virtual organisation. Their auth_url and project are looked up at first use (egi.h).
  std::string egi_site, egi_vo;

  std::string of(const std::string& key) const;  // member of auth; "" if missing
};

// Immutable after load(); thread-safe.
class Configuration {
 public:
  // Invalid: a file is malformed; the error names it. Does not access the network.
  static Result<std::shared_ptr<const Configuration>> load(Lookup environment);

  // The names in clouds.yaml, sorted, plus "envvars" if the variables describe a cloud.
  std::vector<std::string> names() const;
  // OS_CLOUD, else "envvars" if set, else the file's only cloud; "" if none applies.
  const std::string& default_name() const { return default_; }
  // "" selects the default. NotFound: the cloud does not exist, or no cloud is configured. Invalid: its
  // settings are unusable (an unknown auth_type, `verify: false`); the error says what to write instead.
  // Missing keys are reported when a token is requested, since a plan needs none.
  Result<Settings> cloud(const std::string& name) const;
  std::string environment(const std::string& name) const { return environment_(name); }

 private:
  friend class FileReader;
  // A cloud as written, flattened: "auth.username" -> value, "region_name", ...
  using Written = std::map<std::string, std::string>;
  Lookup environment_;
  std::string file_, default_;
  Written variables_;  // OS_* variables, with the names used in clouds.yaml
  std::vector<std::string> looked_in_;
  std::map<std::string, Written> clouds_;
};

// Applies OS_* variables to the default cloud of clouds.yaml: they override its region, interface and
// authority, and supply a missing secret and project.
std::map<std::string, std::string> with_variables(std::map<std::string, std::string> written,
                                                  const std::map<std::string, std::string>& variables);

// Builds Settings from the flattened pairs of a cloud in clouds.yaml: "auth.username", "auth_type",
// "region_name", "regions.0", "interface", "cacert", "verify", "compute_endpoint_override", ...
Result<Settings> settings_of(const std::map<std::string, std::string>& written, const std::string& name,
                             const std::string& origin);

// The clouds of a YAML text, flattened as above. `top`: their parent key ("clouds", "public-clouds").
// Invalid: names `file`, and no value.
Result<std::map<std::string, std::map<std::string, std::string>>> parse_clouds(std::string_view text,
                                                                               const std::string& file,
                                                                               const std::string& top);

}  // namespace radl::openstack

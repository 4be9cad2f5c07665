// How an OpenStack cloud is reached and by whom: clouds.yaml with secure.yaml and clouds-public.yaml, or the
// variables OS_*, in the order in which OpenStack's own tools look.
// Source: openstacksdk documentation, "Configuring OpenStack SDK Applications"; python-openstackclient,
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

// One cloud and the credentials for it. `auth` holds secrets: never shown.
struct Settings {
  std::string name;    // in clouds.yaml, "envvars" for the variables, or an auth file's id
  std::string origin;  // "cloud \"x\" of /etc/openstack/clouds.yaml", "the variables OS_*"
  std::string method;  // password, token, application_credential, oidc_access_token, none
  // As Keystone's plugins call them: auth_url, username, user_id, password, user_domain_name, user_domain_id,
  // project_name, project_id, project_domain_name, project_domain_id, domain_name, domain_id, system_scope,
  // trust_id, token, application_credential_id, _name, _secret, identity_provider, protocol, access_token.
  std::map<std::string, std::string> auth;
  std::string region;                            // "": whichever the catalogue has
  std::string interface = "public";              // public, internal, admin
  std::string ca_file;                           // "": the system's
  std::map<std::string, std::string> endpoints;  // type of service -> URL in place of the catalogue's
  // An EGI site and virtual organisation: auth_url and project are looked up there (egi.h) when first needed.
  std::string egi_site, egi_vo;

  std::string of(const std::string& key) const;  // of auth; "" if missing
};

// Read once, then only asked; thread-safe.
class Configuration {
 public:
  // Invalid with the file where one cannot be understood. Reads no network.
  static Result<std::shared_ptr<const Configuration>> load(Lookup environment);

  // The names in clouds.yaml, sorted, and "envvars" where the variables describe one.
  std::vector<std::string> names() const;
  // OS_CLOUD, else the variables', else the only one of the file; "" where there is none of these.
  const std::string& default_name() const { return default_; }
  // "" stands for the default. NotFound: there is no such cloud, or none at all; Invalid: what is said of it
  // cannot be used (an unknown auth_type, `verify: false`), and what to write instead. Keys that lack are
  // told when a token is asked for: a plan needs none.
  Result<Settings> cloud(const std::string& name) const;
  std::string environment(const std::string& name) const { return environment_(name); }

 private:
  friend class FileReader;
  // A cloud as it is written, flat: "auth.username" -> value, "region_name", ...
  using Written = std::map<std::string, std::string>;
  Lookup environment_;
  std::string file_, default_;
  Written variables_;  // OS_*, as they would be written there
  std::vector<std::string> looked_in_;
  std::map<std::string, Written> clouds_;
};

// What the variables OS_* say of a cloud that is written in clouds.yaml and is the one that is meant without
// a name: region, interface and authority in place of its own, and the secret and the project that it lacks.
std::map<std::string, std::string> with_variables(std::map<std::string, std::string> written,
                                                  const std::map<std::string, std::string>& variables);

// Settings of the pairs that a cloud of clouds.yaml consists of: "auth.username", "auth_type", "region_name",
// "regions.0", "interface", "cacert", "verify", "compute_endpoint_override", ...
Result<Settings> settings_of(const std::map<std::string, std::string>& written, const std::string& name,
                             const std::string& origin);

// The clouds of a YAML text, flattened as above. `top`: the key that they are under ("clouds",
// "public-clouds"). Invalid names `file`, and no value.
Result<std::map<std::string, std::map<std::string, std::string>>> parse_clouds(std::string_view text,
                                                                               const std::string& file,
                                                                               const std::string& top);

}  // namespace radl::openstack

#include "runtime/clouds/openstack/auth_lines.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace radl {
namespace {

using Written = std::map<std::string, std::string>;

bool is_hex_id(const std::string& text) {
  return text.size() == 32 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isxdigit(c); });
}

// One line's values, as settings of a clouds.yaml.
class Line {
 public:
  Line(const AuthFile& file, const AuthLine& line) : file_(file), line_(line) {}

  Status take(const char* key, const std::string& as, bool required) {
    auto value = file_.value(line_, key);
    if (!value.ok()) return value.status();
    if (value->empty() && required) return Status(Code::Auth, file_.place(line_) + ": has no " + key);
    if (!value->empty()) written[as] = std::move(*value);
    return {};
  }

  // "" also for a value that could not be had: take() reports that.
  std::string of(const char* key) const {
    auto value = file_.value(line_, key);
    return value.ok() ? std::move(*value) : std::string();
  }

  // A host without a scheme uses http, as in the Infrastructure Manager.
  void take_host() {
    const std::string host = of("host");
    written["auth.auth_url"] = host.find("://") == host.npos ? "http://" + host : host;
  }

  void take_project(const std::string& project) {
    if (!project.empty()) written[is_hex_id(project) ? "auth.project_id" : "auth.project_name"] = project;
    const std::string domain = of("tenant_domain_id");
    if (!domain.empty()) written["auth.project_domain_id"] = domain;
  }

  Status invalid_value(const std::string& what) const { return invalid(file_.place(line_) + ": " + what); }

  Written written;

 private:
  const AuthFile& file_;
  const AuthLine& line_;
};

Status take_password(Line& line) {
  line.written["auth_type"] = "password";
  for (const char* key : {"username", "password"})
    if (Status taken = line.take(key, std::string("auth.") + key, true); !taken.ok()) return taken;
  const std::string domain = line.of("domain");
  if (!domain.empty()) line.written["auth.user_domain_name"] = domain;
  line.take_project(line.of("tenant"));
  return {};
}

Status take_application_credential(Line& line) {
  line.written["auth_type"] = "v3applicationcredential";
  Status taken = line.take("username", "auth.application_credential_id", true);
  return taken.ok() ? line.take("password", "auth.application_credential_secret", true) : taken;
}

Status take_access_token(Line& line) {
  line.written["auth_type"] = "v3oidcaccesstoken";
  const std::tuple<const char*, const char*> keys[] = {
      {"username", "auth.identity_provider"}, {"tenant", "auth.protocol"}, {"password", "auth.access_token"}};
  for (const auto& [key, as] : keys)
    if (Status taken = line.take(key, as, true); !taken.ok()) return taken;
  line.take_project(line.of("domain"));
  return {};
}

Status take_openstack(Line& line) {
  if (line.of("host").empty()) return line.take("host", "host", true);
  line.take_host();
  for (const auto& [key, as] : {std::pair{"service_region", "region_name"},
                                {"base_url", "compute_endpoint_override"},
                                {"network_url", "network_endpoint_override"},
                                {"image_url", "image_endpoint_override"},
                                {"volume_url", "volume_endpoint_override"}})
    if (Status taken = line.take(key, as, false); !taken.ok()) return taken;
  if (!line.of("proxy").empty() || !line.of("auth_token").empty()) {
    if (line.of("auth_token").empty()) return line.invalid_value("proxy: VOMS proxies are not supported");
    line.written["auth_type"] = "token";
    line.take_project(line.of("tenant"));
    return line.take("auth_token", "auth.token", true);
  }
  const std::string version = line.of("auth_version");
  if (version.empty() || version.ends_with("_password")) return take_password(line);
  if (version == "3.x_appcred") return take_application_credential(line);
  if (version == "3.x_oidc_access_token") return take_access_token(line);
  return line.invalid_value("auth_version '" + version +
                            "' is not supported; there are 3.x_password, 3.x_appcred, 3.x_oidc_access_token");
}

}  // namespace

Result<openstack::Settings> openstack_settings(const AuthFile& file, const AuthLine& line) {
  const std::string origin = file.origin(line);
  Line read(file, line);
  if (line.type == "EGI") {
    for (const char* key : {"host", "vo"})
      if (Status taken = read.take(key, key, true); !taken.ok()) return taken;
    if (Status taken = read.take("token", "auth.access_token", true); !taken.ok()) return taken;
    read.written["auth_type"] = "v3oidcaccesstoken";
    read.written["auth.identity_provider"] = "egi.eu";
    read.written["auth.protocol"] = "openid";
    auto settings = openstack::settings_of(read.written, line.id, origin);
    if (!settings.ok()) return settings;
    settings->egi_site = read.of("host");
    settings->egi_vo = read.of("vo");
    return settings;
  }
  if (Status taken = take_openstack(read); !taken.ok()) return taken;
  return openstack::settings_of(read.written, line.id, origin);
}

}  // namespace radl

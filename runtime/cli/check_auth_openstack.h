// `radlc check-auth` of OpenStack's credentials: looked at, printed, and what it means for the exit status.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/openstack/settings.h"
#include "common/stop.h"
#include "runtime/auth/auth_file.h"

namespace radl::http {
class Client;
}

namespace radl::cli {

struct OpenStackEntry {
  std::string name;
  Result<openstack::Settings> settings;
};

// Lines of the auth file; without a file, the clouds that OpenStack's own tools would find. Empty: none.
// Invalid: a clouds.yaml that cannot be read.
Result<std::vector<OpenStackEntry>> openstack_entries(const std::optional<AuthFile>& file);

// Looks at it and prints what was found, or adds it to `list` where it is to be JSON. The exit status.
int check_openstack(http::Client& http, const OpenStackEntry& entry, const Stop& stop, nlohmann::json* list);

}  // namespace radl::cli

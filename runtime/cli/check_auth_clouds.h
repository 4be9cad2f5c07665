// `radlc check-auth` of what is not AWS's: credentials are found, looked at, and shown.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/stop.h"
#include "runtime/auth/auth_file.h"
#include "runtime/auth/cloud_account.h"

namespace radl::http {
class Client;
}

namespace radl::cli {

struct CloudEntry {
  std::string name;  // as a `deploy` may say it
  std::function<CloudAccount(http::Client& http, const Stop& stop)> look;
};

// Of OpenStack, Google and Azure: lines of the auth file; without a file, what the clouds' own tools would
// find. Invalid: a file of theirs that cannot be read.
Result<std::vector<CloudEntry>> cloud_entries(const Environment& environment,
                                              const std::optional<AuthFile>& file);

nlohmann::json to_json(const std::string& name, const CloudAccount& account);
std::string render_text(const std::string& name, const CloudAccount& account);

// No credentials is the user's to put right; those that are refused or lack something are the world's.
int exit_status(const CloudAccount& account);

}  // namespace radl::cli

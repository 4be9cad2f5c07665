// What `radlc check-auth` shows of an account.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/auth/cloud_account.h"

namespace radl::cli {

nlohmann::json to_json(const std::string& name, const CloudAccount& account);
std::string render_text(const std::string& name, const CloudAccount& account);

// Missing credentials are the user's to put right; those that are refused or lack something are the world's.
int exit_status(const CloudAccount& account);

}  // namespace radl::cli

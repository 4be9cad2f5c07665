// Keystone token requests and responses. Pure functions. Source: OpenStack Identity API v3, "Authentication
// and token management"; Federation extension, "Request an unscoped OS-FEDERATION token", "Request a scoped
// OS-FEDERATION token".
#pragma once

#include <ctime>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/openstack/settings.h"
#include "common/status.h"

namespace radl::openstack {

struct Endpoint {
  std::string type, name, region, interface, url;
};

struct Token {
  std::string id;           // a secret
  std::time_t expires = 0;  // 0 if not given
  std::string user_id, user_name, project_id, project_name;
  std::vector<std::string> roles;
  std::vector<Endpoint> catalog;
};

// The body of POST /v3/auth/tokens. Invalid: settings are missing; names them and where to set them.
// `unscoped`: token of a federated login, to be exchanged for a scoped one.
Result<nlohmann::json> token_request(const Settings& settings, const std::string& unscoped = {});
// Whether the settings ask for more than an unscoped token.
bool has_scope(const Settings& settings);
// URL of Keystone's version 3: auth_url, with /v3 appended if missing.
std::string identity_url(const Settings& settings);
// URL for a federated login. Invalid: identity_provider, protocol or access_token is missing.
Result<std::string> federation_url(const Settings& settings);

// Parses a token document and the header X-Subject-Token. Corrupt: not a token.
Result<Token> parse_token(std::string_view body, std::string_view subject_token);

// Seconds since the epoch of "2026-01-02T03:04:05.000000Z"; 0 if it is not such a time.
std::time_t parse_time(std::string_view text);

}  // namespace radl::openstack

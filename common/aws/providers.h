// The individual credential sources that default_credentials() tries in order. NotFound: this source is not
// configured. Nothing is cached: each call sends its requests.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/aws/credentials.h"
#include "common/aws/settings.h"
#include "common/http/http.h"
#include "common/utc.h"

namespace radl::aws {

struct Asking {
  http::Client& http;
  const Configuration& configuration;
  Stop stop;
};

Result<Credentials> environment_credentials(const Asking& asking);
// AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN.
Result<Credentials> web_identity_environment(const Asking& asking);
// Uses whatever the profile configures: role, web identity, SSO, keys or process. `above`: the profiles that
// led here through source_profile.
Result<Credentials> profile_credentials(const Asking& asking, const std::string& profile,
                                        std::vector<std::string> above = {});
Result<Credentials> container_credentials(const Asking& asking);
Result<Credentials> instance_credentials(const Asking& asking);

// ---- parts of profiles ----

// Splits "a 'b c' "d\"e"" into words. Handles quotes and backslashes like a shell, but no other shell syntax.
Result<std::vector<std::string>> split_command(const std::string& text);
// Runs the command and parses {"Version": 1, "AccessKeyId": ..., ...} from its standard output.
Result<Credentials> process_credentials(const Environment& environment, const std::string& command,
                                        const std::string& origin, const Stop& stop,
                                        double patience_seconds = 60);

struct SsoProfile {
  std::string profile, session;  // session name; "" for the older form without sessions
  std::string start_url, region, account, role, origin;
};
// Uses the token that `aws sso login` stores in ~/.aws/sso/cache, and refreshes it if possible.
Result<Credentials> sso_credentials(const Asking& asking, const SsoProfile& sso);

struct RoleRequest {
  std::string arn, session_name, external_id, duration_seconds, origin;
};
Result<Credentials> assume_role(const Asking& asking, const RoleRequest& role, const Credentials& by);
Result<Credentials> assume_role_with_web_identity(const Asking& asking, const RoleRequest& role,
                                                  const std::string& token_file);

// ---- JSON ----

// Returns a member's text; "" if it is missing or not a string.
std::string text_of(const nlohmann::json& object, const char* name);
// Parses "2026-01-31T10:00:00Z", also with "+00:00", "UTC" and fractions of a second.
std::optional<std::time_t> parse_time(std::string text);
// {"AccessKeyId", "SecretAccessKey", "Token" or "SessionToken", "Expiration"}. Auth: one is missing.
Result<Credentials> credentials_of_json(const std::string& json, const std::string& origin);

}  // namespace radl::aws

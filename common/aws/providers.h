// The single places that credentials come from; default_credentials() tries them in order. NotFound: there is
// nothing of this kind here. Each makes its requests anew at every call.
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
// Whatever the profile says: role, web identity, SSO, keys, process. `above`: the profiles that led here, by
// source_profile.
Result<Credentials> profile_credentials(const Asking& asking, const std::string& profile,
                                        std::vector<std::string> above = {});
Result<Credentials> container_credentials(const Asking& asking);
Result<Credentials> instance_credentials(const Asking& asking);

// ---- parts of profiles ----

// "a 'b c' "d\"e"" as its words, as a shell takes quotes and backslashes, and nothing else of a shell.
Result<std::vector<std::string>> split_command(const std::string& text);
// {"Version": 1, "AccessKeyId": ..., ...} of the program's standard output.
Result<Credentials> process_credentials(const Environment& environment, const std::string& command,
                                        const std::string& origin, const Stop& stop,
                                        double patience_seconds = 60);

struct SsoProfile {
  std::string profile, session;  // the session's name; "" for the older form without sessions
  std::string start_url, region, account, role, origin;
};
// By the token that `aws sso login` keeps in ~/.aws/sso/cache; it is refreshed where it can be.
Result<Credentials> sso_credentials(const Asking& asking, const SsoProfile& sso);

struct RoleRequest {
  std::string arn, session_name, external_id, duration_seconds, origin;
};
Result<Credentials> assume_role(const Asking& asking, const RoleRequest& role, const Credentials& by);
Result<Credentials> assume_role_with_web_identity(const Asking& asking, const RoleRequest& role,
                                                  const std::string& token_file);

// ---- JSON ----

// The member as text, "" when it is absent or of another type.
std::string text_of(const nlohmann::json& object, const char* name);
// "2026-01-31T10:00:00Z", also with "+00:00", "UTC" and fractions of a second.
std::optional<std::time_t> parse_time(std::string text);
// {"AccessKeyId", "SecretAccessKey", "Token" or "SessionToken", "Expiration"}. Auth: not all of it is there.
Result<Credentials> credentials_of_json(const std::string& json, const std::string& origin);

}  // namespace radl::aws

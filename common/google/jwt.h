// JSON web tokens signed by a service account's key: RS256 (RFC 7515, RFC 7518 section 3.3).
#pragma once

#include <ctime>
#include <string>
#include <string_view>

#include "common/google/credentials.h"
#include "common/status.h"

namespace radl::google {

// RFC 4648, section 5, without padding.
std::string base64url(std::string_view bytes);

// Header, claims and signature. Auth: the key is no RSA key in PEM; nothing of the key is in the error.
// `now`: seconds since 1970; the token is good for an hour.
Result<std::string> signed_assertion(const Credential& credential, const std::string& scope, std::time_t now);

}  // namespace radl::google

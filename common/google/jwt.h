// The assertion that a service account's key signs to obtain a token from Google (RFC 7523).
#pragma once

#include <ctime>
#include <string>

#include "common/google/credentials.h"
#include "common/status.h"

namespace radl::google {

// Auth: the key is not an RSA key in PEM; the error contains nothing of the key. `now`: seconds since 1970.
// The assertion is valid for an hour.
Result<std::string> signed_assertion(const Credential& credential, const std::string& scope, std::time_t now);

}  // namespace radl::google

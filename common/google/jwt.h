// What a service account's key signs so that Google gives a token for it (RFC 7523).
#pragma once

#include <ctime>
#include <string>

#include "common/google/credentials.h"
#include "common/status.h"

namespace radl::google {

// Auth: the key is not an RSA key in PEM; the error contains nothing of the key. `now`: seconds since 1970;
// the token is good for an hour.
Result<std::string> signed_assertion(const Credential& credential, const std::string& scope, std::time_t now);

}  // namespace radl::google

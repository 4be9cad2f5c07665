// JSON web tokens that a key signs: RS256 (RFC 7515, RFC 7518 section 3.3).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// RFC 4648, section 5, without padding.
std::string base64url(std::string_view bytes);

// RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017) of a text, raw bytes, with `pem` and errors as below.
Result<std::string> sign_rs256(const std::string& pem, const std::string& text, const std::string& what);

// Header, claims and signature; alg and typ are added to the header. `pem`: a private key, alone or with
// others in a PEM file. Auth: there is no RSA key in it; nothing of it is in the error, which names `what`
// ("key.json: private_key").
Result<std::string> signed_jwt(nlohmann::json header, const nlohmann::json& claims, const std::string& pem,
                               const std::string& what);

// Base64url of the SHA-1 over the first certificate of a PEM file (RFC 7515, section 4.1.7: x5t). Auth: it
// has none.
Result<std::string> certificate_thumbprint(const std::string& pem, const std::string& what);

}  // namespace radl

// Signed JSON web tokens: RS256 (RFC 7515, RFC 7518 section 3.3).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// RFC 4648, section 5, without padding.
std::string base64url(std::string_view bytes);

// Signs a text by RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017). Returns raw bytes; `pem` and errors as below.
Result<std::string> sign_rs256(const std::string& pem, const std::string& text, const std::string& what);

// Returns header, claims and signature; adds alg and typ to the header. `pem`: a private key, possibly with
// other PEM blocks. Auth: it contains no RSA key. The error names `what` ("key.json: private_key") and
// contains nothing of the key.
Result<std::string> signed_jwt(nlohmann::json header, const nlohmann::json& claims, const std::string& pem,
                               const std::string& what);

// Base64url of the SHA-1 of the first certificate in a PEM file (RFC 7515, section 4.1.7: x5t). Auth: it
// contains no certificate.
Result<std::string> certificate_thumbprint(const std::string& pem, const std::string& what);

}  // namespace radl

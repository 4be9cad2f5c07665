#include "common/google/jwt.h"

#include <nlohmann/json.hpp>

#include "common/jwt.h"

namespace radl::google {
namespace {

constexpr int kLifetime = 3600;  // the longest that Google takes

}  // namespace

Result<std::string> signed_assertion(const Credential& credential, const std::string& scope,
                                     std::time_t now) {
  nlohmann::json header = nlohmann::json::object();
  if (!credential.key_id.empty()) header["kid"] = credential.key_id;
  const nlohmann::json claims = {{"iss", credential.account},
                                 {"scope", scope},
                                 {"aud", credential.token_url},
                                 {"iat", now},
                                 {"exp", now + kLifetime}};
  return signed_jwt(std::move(header), claims, credential.private_key, credential.origin + ": private_key");
}

}  // namespace radl::google

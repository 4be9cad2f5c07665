#include "runtime/clouds/ec2/auth_lines.h"

#include <tuple>

#include "common/text.h"

namespace radl::ec2 {

Result<std::shared_ptr<aws::CredentialSource>> credentials_of(const AuthFile& file, const AuthLine& line) {
  const std::string where = file.path + ":" + std::to_string(line.line) + ": " + line.id;
  aws::Credentials keys;
  keys.origin = "\"" + line.id + "\" of " + file.path;
  const std::tuple<const char*, std::string*, bool> wanted[] = {{"username", &keys.access_key, true},
                                                                {"password", &keys.secret_key, true},
                                                                {"token", &keys.session_token, false}};
  for (const auto& [key, value, required] : wanted) {
    if (auto at = line.missing.find(key); at != line.missing.end())
      return Status(Code::Auth, where + ": " + key + ": " + at->second);
    const auto at = line.values.find(key);
    if (at != line.values.end()) *value = std::string(trim(at->second));
    if (required && value->empty())
      return Status(Code::Auth,
                    where + ": has no " + key + " (username is the access key, password the secret key)");
  }
  return aws::fixed_credentials(std::move(keys));
}

}  // namespace radl::ec2

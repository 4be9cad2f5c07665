#include "runtime/clouds/ec2/auth_lines.h"

#include <tuple>
#include <utility>

namespace radl::ec2 {

Result<std::shared_ptr<aws::CredentialSource>> credentials_of(const AuthFile& file, const AuthLine& line) {
  aws::Credentials keys;
  keys.origin = file.origin(line);
  const std::tuple<const char*, std::string*, bool> wanted[] = {{"username", &keys.access_key, true},
                                                                {"password", &keys.secret_key, true},
                                                                {"token", &keys.session_token, false}};
  for (const auto& [key, value, required] : wanted) {
    auto given = file.value(line, key);
    if (!given.ok()) return given.status();
    *value = std::move(*given);
    if (required && value->empty())
      return Status(Code::Auth, file.place(line) + ": has no " + key +
                                    " (username is the access key, password the secret key)");
  }
  return aws::fixed_credentials(std::move(keys));
}

}  // namespace radl::ec2

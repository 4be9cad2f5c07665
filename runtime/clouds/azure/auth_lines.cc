#include "runtime/clouds/azure/auth_lines.h"

#include <map>
#include <utility>

namespace radl {
namespace {

constexpr const char* kAzClient = "04b07795-8ddb-461a-bbee-02f9e1bf7b46";  // az's own, public

}  // namespace

Result<azure::Settings> azure_settings(const AuthFile& file, const AuthLine& line, azure::Settings places) {
  const std::string where = file.place(line);
  std::map<std::string, std::string> values;
  for (const char* key : {"subscription_id", "client_id", "secret", "tenant", "username", "password"}) {
    auto value = file.value(line, key);
    if (!value.ok()) return value.status();
    values[key] = std::move(*value);
  }
  if (values["subscription_id"].empty()) return Status(Code::Auth, where + ": has no subscription_id");
  if (Status id = azure::check_subscription(values["subscription_id"], where + ": subscription_id"); !id.ok())
    return Status(Code::Auth, id.message()).with_hint(id.hint());
  azure::Credential credential;
  credential.origin = file.origin(line);
  credential.client_id = values["client_id"];
  credential.tenant = values["tenant"];
  if (!values["secret"].empty()) {
    for (const char* key : {"client_id", "tenant"})
      if (values[key].empty())
        return Status(Code::Auth, where + ": has no " + key + ": a service principal takes both");
    credential.kind = azure::Credential::Kind::Secret;
    credential.secret = values["secret"];
  } else if (!values["username"].empty() && !values["password"].empty()) {
    credential.kind = azure::Credential::Kind::Password;
    credential.username = values["username"];
    credential.password = values["password"];
    if (credential.client_id.empty()) credential.client_id = kAzClient;
  } else {
    return Status(Code::Auth, where + ": has neither client_id, secret and tenant nor username and password");
  }
  places.credential = std::move(credential);
  places.subscription = values["subscription_id"];
  return places;
}

}  // namespace radl

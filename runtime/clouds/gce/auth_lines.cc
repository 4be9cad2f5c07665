#include "runtime/clouds/gce/auth_lines.h"

#include <map>
#include <utility>

namespace radl {
namespace {

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";

}  // namespace

Result<google::Settings> google_settings(const AuthFile& file, const AuthLine& line,
                                         google::Settings places) {
  const std::string where = file.place(line);
  std::map<std::string, std::string> values;
  for (const char* key : {"username", "password", "project"}) {
    auto value = file.value(line, key);
    if (!value.ok()) return value.status();
    values[key] = std::move(*value);
  }
  const std::string key = values["password"];
  if (key.empty())
    return Status(Code::Auth, where + ": has no password: a service account's key, JSON or PEM");
  std::string project;
  google::Credential credential;
  if (key.starts_with('{')) {
    auto parsed = google::parse_credential(key, where + ": password", &project);
    if (!parsed.ok()) return parsed.status();
    credential = std::move(*parsed);
  } else if (key.starts_with("-----BEGIN")) {
    if (values["username"].empty())
      return Status(Code::Auth, where + ": has no username: the service account that the key is of");
    credential.kind = google::Credential::Kind::ServiceAccount;
    credential.account = values["username"];
    credential.private_key = key;
    credential.token_url = kTokenUrl;
  } else {
    return invalid(where + ": password is neither a service account's key file (JSON) nor a key in PEM");
  }
  credential.origin = file.origin(line);
  places.credential = std::move(credential);
  // The default project is another credential's.
  places.project = values["project"].empty() ? project : values["project"];
  if (places.project.empty()) return Status(Code::Auth, where + ": has no project");
  return places;
}

}  // namespace radl

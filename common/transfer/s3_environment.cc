#include <cstdlib>
#include <map>
#include <sstream>

#include "common/files.h"
#include "common/transfer/s3.h"

namespace radl::transfer {
namespace {

std::string env(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

std::string trim(const std::string& s) {
  const size_t a = s.find_first_not_of(" \t\r"), b = s.find_last_not_of(" \t\r");
  return a == std::string::npos ? "" : s.substr(a, b - a + 1);
}

// One [section] of an INI file.
std::map<std::string, std::string> read_profile(const std::string& path, const std::string& profile) {
  std::map<std::string, std::string> values;
  auto text = read_file(path, 1 << 20);
  if (!text.ok()) return values;
  std::istringstream lines(*text);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    line = trim(line);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    if (line[0] == '[') {
      std::string name = trim(line.substr(1, line.find(']') - 1));
      if (name.rfind("profile ", 0) == 0) name = trim(name.substr(8));
      inside = name == profile;
    } else if (const size_t equals = line.find('='); inside && equals != std::string::npos) {
      values[trim(line.substr(0, equals))] = trim(line.substr(equals + 1));
    }
  }
  return values;
}

std::string first(std::initializer_list<std::string> values) {
  for (const auto& v : values) {
    if (!v.empty()) return v;
  }
  return "";
}

}  // namespace

Result<S3Options> s3_options_from_environment() {
  const std::string profile = first({env("AWS_PROFILE"), "default"}), home = env("HOME");
  auto keys = read_profile(first({env("AWS_SHARED_CREDENTIALS_FILE"), home + "/.aws/credentials"}), profile);
  auto config = read_profile(first({env("AWS_CONFIG_FILE"), home + "/.aws/config"}), profile);
  S3Options o;
  o.credentials = {env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"), env("AWS_SESSION_TOKEN"), {}, ""};
  if (o.credentials.access_key.empty() && o.credentials.secret_key.empty()) {
    o.credentials = {
        keys["aws_access_key_id"], keys["aws_secret_access_key"], keys["aws_session_token"], {}, ""};
  }
  if (o.credentials.access_key.empty() != o.credentials.secret_key.empty()) {
    return Status(Code::Auth, "of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY only one is set");
  }
  o.region = first({env("AWS_REGION"), env("AWS_DEFAULT_REGION"), config["region"], "us-east-1"});
  o.endpoint = first({env("AWS_ENDPOINT_URL_S3"), env("AWS_ENDPOINT_URL"), config["endpoint_url"]});
  return o;
}

}  // namespace radl::transfer

#include "common/process/environment.h"

#include <algorithm>

namespace radl {
namespace {

bool names(const std::string& pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1))
                                : name == pattern;
}

bool is_one_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& one) { return names(one, name); });
}

const std::vector<std::string> kOwnSecrets = {"RADL_INPUT_*", "RADL_SUDO_PASSWORD"};

}  // namespace

const std::vector<std::string> kBasicVariables = {
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "TZDIR", "XDG_*",
    // Networks. A proxy's URL may hold a password, without which the program reaches nothing.
    "http_proxy", "https_proxy", "HTTPS_PROXY", "ftp_proxy", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSH_AUTH_SOCK",
    // Programs that are installed apart, and our own tests.
    "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"};

const std::vector<std::string> kUsersVariables = {"*"};

const std::vector<std::string> kStoreVariables = {"AWS_*", "AZURE_*",   "GOOGLE_*", "GCLOUD_*", "CLOUDSDK_*",
                                                  "OS_*",  "STORAGE_*", "HADOOP_*", "RADL_*"};

std::string program_path(const Environment& environment) {
  std::string all = environment.has("PATH") ? environment("PATH") : "/usr/local/bin:/usr/bin:/bin";
  for (const char* folder : {"/usr/local/sbin", "/usr/sbin", "/sbin"}) {
    if ((":" + all + ":").find(":" + std::string(folder) + ":") == std::string::npos)
      all += ":" + std::string(folder);
  }
  return all;
}

std::vector<std::string> environment_of(const Environment& environment,
                                        const std::vector<std::string>& allowed,
                                        const EnvironmentChanges& changes) {
  std::vector<std::string> all;
  for (const auto& [name, value] : environment.variables()) {
    if (changes.contains(name) || is_one_of(kOwnSecrets, name) || !is_one_of(allowed, name)) continue;
    all.push_back(name + "=" + (name == "PATH" ? program_path(environment) : value));
  }
  for (const auto& [name, value] : changes) {
    if (value) all.push_back(name + "=" + *value);
  }
  return all;
}

ProcessImage::ProcessImage(std::string path, std::vector<std::string> arguments,
                           std::vector<std::string> variables)
    : file(std::move(path)), argv_text(std::move(arguments)), environment_text(std::move(variables)) {
  for (std::string& text : argv_text) argv.push_back(text.data());
  for (std::string& text : environment_text) environment.push_back(text.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
}

}  // namespace radl

#include "runtime/serve/users.h"

#include "common/files.h"
#include "common/http/closed_address.h"
#include "common/machine_identity.h"
#include "common/text.h"
#include "runtime/auth/auth_file.h"
#include "runtime/auth/google_lines.h"

namespace radl::serve {
namespace {

// What programs of the service need, and what says nothing of its user.
constexpr const char* kKept[] = {"PATH",
                                 "LANG",
                                 "LC_ALL",
                                 "TZ",
                                 "RADL_STDLIB",
                                 "https_proxy",
                                 "http_proxy",
                                 "no_proxy",
                                 "HTTPS_PROXY",
                                 "HTTP_PROXY",
                                 "NO_PROXY",
                                 "SSL_CERT_FILE",
                                 "SSL_CERT_DIR",
                                 "RADL_LOCAL_ISOLATION",
                                 "RADL_LOCAL_NETWORK"};

// The keys whose values are addresses that a cloud's client sends requests to. What they lead to, redirects
// and catalogs, the HTTP client of a confined user checks with each connection; this says it at once.
bool is_address(const AuthLine& line, const std::string& key) {
  if (line.type == "EGI") return false;  // its host is the name of a site
  return key == "host" || key == "endpoint" || key.ends_with("_url") || key.ends_with("_host");
}

// A key of Google's may name a file of this computer, or an address and headers, to take its token from.
Status check_google(const AuthFile& file, const AuthLine& line) {
  auto settings = google_settings(file, line, {});
  if (!settings.ok() || settings->credential.kind == google::Credential::Kind::ServiceAccount) return {};
  return Status(Code::Auth, line.id + ": this service takes only keys of service accounts from its users");
}

}  // namespace

bool is_on_this_computer(const std::string& cloud) { return cloud == "local" || cloud == "hosts"; }

Settings Users::of(const std::string& user) {
  if (user == owner_ || user.empty()) return own_;
  std::lock_guard lock(mutex_);
  auto& place = places_[user];
  if (!place) {
    const World& world = *own_.host->world;
    Environment::Variables variables;
    for (const char* name : kKept)
      if (const std::string value = world.environment(name); !value.empty()) variables[name] = value;
    const std::string home = folder_ + "/users/" + user;
    (void)make_directories(home, 0700);  // what needs it says so
    variables["HOME"] = home;
    // Without credentials of the user's own, none of this computer are taken.
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
    variables[kMachineIdentity] = "off";
    if (!trusts(user)) variables[http::kConfined] = "yes";
    place.reset(new Place{{.folder = home, .principal = user, .world = nullptr},
                          {world.clock, world.files, world.random, Environment(std::move(variables))}});
    place->host.world = &place->world;
  }
  const bool trusted = trusts(user);
  return {.host = &place->host,
          .cloud = trusted || !is_on_this_computer(own_.cloud) ? own_.cloud : std::string(),
          .auth = {},
          .trusted = trusted};
}

Result<std::string> Users::accounts(const Caller& caller, const std::string& sent) {
  std::string accounts = sent;
  if (accounts.empty()) {
    auto stored = vault_.get(caller.user);
    if (!stored.ok()) return stored.status();
    accounts = std::move(*stored);
  }
  if (accounts.empty() || trusts(caller.user)) return accounts;
  auto file = parse_auth(accounts, {});
  if (!file.ok()) return file.status();
  for (const AuthLine& line : file->lines) {
    if (line.type == "GCE")
      if (Status key = check_google(*file, line); !key.ok()) return key;
    for (const auto& [key, value] : line.values) {
      if (!is_address(line, key) || trim(value).empty()) continue;
      if (Status open = http::check_open_host(std::string(trim(value))); !open.ok())
        return std::move(open).at(line.id + ": " + key);
    }
  }
  return accounts;
}

}  // namespace radl::serve

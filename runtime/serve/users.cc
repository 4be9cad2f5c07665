#include "runtime/serve/users.h"

#include "common/files.h"
#include "common/http/closed_address.h"
#include "common/machine_identity.h"
#include "runtime/auth/auth_file.h"

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

}  // namespace

bool is_on_this_computer(const driver::Host& host, const std::string& cloud) {
  const CloudProvider* provider = find_provider(*host.providers, cloud.substr(0, cloud.find_first_of(":/")));
  return provider != nullptr && provider->on_this_computer;
}

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
    (void)make_directories(home, 0700);  // its users report a failure
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
          .cloud = trusted || !is_on_this_computer(*own_.host, own_.cloud) ? own_.cloud : std::string(),
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
  for (const AuthLine& line : file->lines)
    if (Status open = check_untrusted_line(*own_.host->providers, *file, line); !open.ok()) return open;
  return accounts;
}

}  // namespace radl::serve

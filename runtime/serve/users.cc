#include "runtime/serve/users.h"

#include <arpa/inet.h>
#include <netdb.h>

#include <cstring>

#include "common/files.h"
#include "common/http/url.h"
#include "common/text.h"
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

// `bytes`: of an address in network order.
bool is_closed(int family, const unsigned char* bytes) {
  if (family == AF_INET)
    return bytes[0] == 127 || bytes[0] == 0 || (bytes[0] == 169 && bytes[1] == 254) || bytes[0] >= 224;
  constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (std::memcmp(bytes, kMapped, sizeof kMapped) == 0) return is_closed(AF_INET, bytes + 12);
  bool low = true;  // :: and ::1
  for (int i = 0; i < 15; ++i) low = low && bytes[i] == 0;
  const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  // The address of EC2's metadata service: fd00:ec2::254.
  const bool metadata = bytes[0] == 0xfd && bytes[1] == 0 && bytes[2] == 0x0e && bytes[3] == 0xc2;
  return (low && bytes[15] <= 1) || link_local || metadata || bytes[0] == 0xff;
}

}  // namespace

Status check_host_of_user(const std::string& url) {
  auto parsed = http::parse_url(url.find("://") == url.npos ? "https://" + url : url);
  if (!parsed.ok()) return parsed.status();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::string host = parsed->host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0)
    return Status(Code::Invalid, host + ": the name is unknown");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  for (const addrinfo* one = all.get(); one; one = one->ai_next) {
    const unsigned char* bytes = one->ai_family == AF_INET
                                     ? reinterpret_cast<const unsigned char*>(
                                           &reinterpret_cast<const sockaddr_in*>(one->ai_addr)->sin_addr)
                                     : reinterpret_cast<const unsigned char*>(
                                           &reinterpret_cast<const sockaddr_in6*>(one->ai_addr)->sin6_addr);
    if (is_closed(one->ai_family, bytes))
      return Status(Code::Auth, host + ": this service makes no requests to that address for its users");
  }
  return {};
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
    (void)make_directories(home, 0700);  // what needs it says so
    variables["HOME"] = home;
    // Without credentials of the user's own, none of this computer are taken.
    variables["AWS_EC2_METADATA_DISABLED"] = "true";
    place.reset(new Place{{.folder = home, .principal = user, .world = nullptr},
                          {world.clock, world.files, world.random, Environment(std::move(variables))}});
    place->host.world = &place->world;
  }
  return {.host = &place->host, .cloud = own_.cloud, .auth = {}, .trusted = trusts(user)};
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
    for (const char* key : {"host", "auth_url", "endpoint", "proxy_host"}) {
      const auto found = line.values.find(key);
      if (found == line.values.end() || trim(found->second).empty()) continue;
      if (Status open = check_host_of_user(std::string(trim(found->second))); !open.ok())
        return std::move(open).at(line.id);
    }
  return accounts;
}

}  // namespace radl::serve

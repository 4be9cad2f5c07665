#include "common/http/closed_address.h"

#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "common/http/url.h"

namespace radl::http {
namespace {

using V4 = std::array<unsigned char, 4>;

// Metadata services at addresses that are not link-local: Azure's, Alibaba's, Oracle's.
constexpr V4 kMetadata[] = {{168, 63, 129, 16}, {100, 100, 100, 200}, {192, 0, 0, 192}};

bool is_closed(const V4& a) {
  return a[0] == 127 || a[0] == 0 || (a[0] == 169 && a[1] == 254) || a[0] >= 224 ||
         std::find(std::begin(kMetadata), std::end(kMetadata), a) != std::end(kMetadata);
}

bool is_closed(const unsigned char (&bytes)[16]) {
  constexpr unsigned char kMapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  constexpr unsigned char kNat64[12] = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
  const V4 last = {bytes[12], bytes[13], bytes[14], bytes[15]};
  if (std::memcmp(bytes, kMapped, sizeof kMapped) == 0 || std::memcmp(bytes, kNat64, sizeof kNat64) == 0)
    return is_closed(last);
  // 6to4 (RFC 3056) carries an IPv4 address behind its prefix; a network's own NAT64 prefix (RFC 8215) may
  // carry one anywhere.
  if (bytes[0] == 0x20 && bytes[1] == 0x02) return is_closed(V4{bytes[2], bytes[3], bytes[4], bytes[5]});
  constexpr unsigned char kLocalNat64[6] = {0, 0x64, 0xff, 0x9b, 0, 1};
  if (std::memcmp(bytes, kLocalNat64, sizeof kLocalNat64) == 0) return true;
  // ::, ::1, and the unused IPv4-compatible addresses.
  const bool low = std::all_of(bytes, bytes + 12, [](unsigned char b) { return b == 0; });
  const bool link_local = bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  // EC2's metadata service: fd00:ec2::254.
  const bool metadata = bytes[0] == 0xfd && bytes[1] == 0 && bytes[2] == 0x0e && bytes[3] == 0xc2;
  return low || link_local || metadata || bytes[0] == 0xff;
}

}  // namespace

bool is_closed_address(const sockaddr* address) {
  if (address->sa_family == AF_INET) {
    V4 bytes;
    std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, bytes.size());
    return is_closed(bytes);
  }
  if (address->sa_family != AF_INET6) return true;
  unsigned char bytes[16];
  std::memcpy(bytes, &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, sizeof bytes);
  return is_closed(bytes);
}

Status check_open_host(const std::string& url) {
  auto parsed = parse_url(url.find("://") == url.npos ? "https://" + url : url);
  if (!parsed.ok()) return parsed.status();
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  std::string host = parsed->host;
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (::getaddrinfo(host.c_str(), nullptr, &hints, &found) != 0)
    return Status(Code::Invalid, host + ": the name is unknown");
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, ::freeaddrinfo);
  for (const addrinfo* one = all.get(); one; one = one->ai_next)
    if (is_closed_address(one->ai_addr))
      return Status(Code::Auth, host + ": this service makes no requests to that address for its users");
  return {};
}

}  // namespace radl::http

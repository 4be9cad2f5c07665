#include "runtime/clouds/caller.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <charconv>

#include "common/address_range.h"
#include "common/http/loopback.h"
#include "common/http/url.h"
#include "common/text.h"

namespace radl {
namespace {

constexpr const char* kEcho = "https://checkip.amazonaws.com/";
constexpr double kEchoSeconds = 10;

// 32 or 128; 0: it is no address.
int bits_of(const std::string& address) {
  unsigned char bytes[16];
  if (inet_pton(AF_INET, address.c_str(), bytes) == 1) return 32;
  return inet_pton(AF_INET6, address.c_str(), bytes) == 1 ? 128 : 0;
}

}  // namespace

Result<std::string> parse_cidr(const std::string& text) {
  const size_t slash = text.find('/');
  const int bits = bits_of(text.substr(0, slash));
  if (bits == 0) return invalid(fmt::format("'{}' is not an address", text));
  if (slash == text.npos) {
    const std::string alone = fmt::format("{}/{}", text, bits);
    return address_range(alone).value_or(alone);
  }
  int length = -1;
  auto [end, error] = std::from_chars(text.data() + slash + 1, text.data() + text.size(), length);
  if (error != std::errc() || end != text.data() + text.size() || length < 0 || length > bits)
    return invalid(fmt::format("'{}': the prefix length must be 0 to {}", text, bits));
  return address_range(text).value_or(text);
}

Result<std::string> caller_cidr(http::Client& client, const std::string& endpoint, const Stop& stop) {
  if (auto url = http::parse_url(endpoint); url.ok() && http::is_loopback(url->host))
    return std::string("127.0.0.1/32");
  http::Request request;
  request.url = kEcho;
  request.stop = stop.within(std::chrono::milliseconds(static_cast<long long>(kEchoSeconds * 1000)));
  auto answer = client.send(request, http::Retries{});
  auto fail = [&](const std::string& why) {
    return Status(
               Code::Retry,
               fmt::format(
                   "the public address of this computer, from which SSH is to be allowed, is unknown: {}: {}",
                   kEcho, why))
        .with_hint("name it: RADL_CALLER_CIDR=203.0.113.5/32");
  };
  if (!answer.ok()) return fail(answer.status().message());
  auto cidr = parse_cidr(std::string(trim(answer->body)));
  if (!answer->ok() || !cidr.ok()) return fail(fmt::format("it answers with status {}", answer->status));
  return cidr;
}

CallerSource caller_source(http::Client& client, const std::string& endpoint, const std::string& given) {
  if (!given.empty()) return [given](const Stop&) -> Result<std::string> { return given; };
  return [&client, endpoint](const Stop& stop) { return caller_cidr(client, endpoint, stop); };
}

}  // namespace radl

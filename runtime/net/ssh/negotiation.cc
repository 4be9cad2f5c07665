#include "runtime/net/ssh/negotiation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace radl::ssh {
namespace {

constexpr char kKexInit = 20;
constexpr size_t kCookie = 16;

std::vector<std::string> names_in(std::string_view list) {
  std::vector<std::string> names;
  while (!list.empty()) {
    size_t comma = std::min(list.find(','), list.size());
    names.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return names;
}

bool take_number(std::string_view& rest, size_t& number) {
  if (rest.size() < 4) return false;
  number = 0;
  for (int i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(rest[i]);
  rest.remove_prefix(4);
  return true;
}

bool common(const std::vector<std::string>& offered, const std::vector<std::string>& ours) {
  return std::any_of(ours.begin(), ours.end(), [&](const std::string& one) {
    return std::find(offered.begin(), offered.end(), one) != offered.end();
  });
}

std::vector<std::string> supported(LIBSSH2_SESSION* session, int method) {
  const char** names = nullptr;
  int count = libssh2_session_supported_algs(session, method, &names);
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.emplace_back(names[i]);
  if (count > 0) libssh2_free(session, names);
  return all;
}

}  // namespace

std::optional<Offer> parse_offer(std::string_view bytes) {
  // Lines may come before the one that names the protocol (RFC 4253 section 4.2).
  for (bool found = false; !found;) {
    size_t end = bytes.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    found = bytes.starts_with("SSH-");
    bytes.remove_prefix(end + 1);
  }
  size_t size = 0;
  if (!take_number(bytes, size) || size > bytes.size() || size < 2 + kCookie || bytes[1] != kKexInit)
    return std::nullopt;
  bytes = bytes.substr(2 + kCookie, size - 2 - kCookie);
  std::vector<std::string> lists[6];  // key exchange, host key, ciphers to and from, MACs to and from
  for (auto& list : lists) {
    size_t length = 0;
    if (!take_number(bytes, length) || length > bytes.size()) return std::nullopt;
    list = names_in(bytes.substr(0, length));
    bytes.remove_prefix(length);
  }
  return Offer{lists[0], lists[1], lists[3], lists[5]};
}

Disagreement disagreement(const Offer& offer, LIBSSH2_SESSION* session, std::string_view host_key_type,
                          std::string_view ciphers, std::string_view macs) {
  if (!common(offer.host_keys, {std::string(host_key_type)})) {
    return {true, fmt::format("the server has no {} host key, which is the kind that is pinned, but {}",
                              host_key_type, fmt::join(offer.host_keys, ", "))};
  }
  std::string text;
  auto compare = [&](const char* what, const std::vector<std::string>& offered,
                     const std::vector<std::string>& ours) {
    if (common(offered, ours)) return;
    text += fmt::format("{}{} {}", text.empty() ? "the server takes only the " : "; ", what,
                        fmt::join(offered, ", "));
  };
  compare("ciphers", offer.ciphers, names_in(ciphers));
  compare("MACs", offer.macs, names_in(macs));
  compare("key exchanges", offer.key_exchange, supported(session, LIBSSH2_METHOD_KEX));
  return {false, text.empty() ? "" : text + ", which libssh2 does not have"};
}

}  // namespace radl::ssh

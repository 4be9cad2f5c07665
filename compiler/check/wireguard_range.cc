#include "compiler/check/wireguard_range.h"

#include <fmt/format.h>

#include <charconv>

namespace radl::sema {

std::string WireguardRange::address(uint64_t place) const {
  const uint32_t ip = first + static_cast<uint32_t>(place);
  return fmt::format("{}.{}.{}.{}", ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255);
}

std::optional<WireguardRange> wireguard_range(std::string_view text) {
  WireguardRange range;
  const char *at = text.data(), *end = text.data() + text.size();
  auto number = [&](int most, char before) {
    if (before != 0 && (at == end || *at++ != before)) return -1;
    int value = -1;
    auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value < 0 || value > most) return -1;
    at = next;
    return value;
  };
  for (int i = 0; i < 4; i++) {
    const int octet = number(255, i == 0 ? '\0' : '.');
    if (octet < 0) return std::nullopt;
    range.first = range.first << 8 | static_cast<uint32_t>(octet);
  }
  range.prefix = number(29, '/');
  if (range.prefix < 8 || at != end || range.first % range.size() != 0) return std::nullopt;
  return range;
}

}  // namespace radl::sema

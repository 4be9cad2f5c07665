// The address range of a network that WireGuard joins: `wireguard_cidr`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace radl::sema {

struct WireguardRange {
  uint32_t first = 0;
  int prefix = 0;
  uint64_t size() const { return uint64_t{1} << (32 - prefix); }
  bool overlaps(const WireguardRange& other) const {
    return first < other.first + other.size() && other.first < first + size();
  }
  std::string address(uint64_t place) const;
};

// Parses "10.213.0.0/16": IPv4 with 8 to 29 prefix bits; the other bits must be 0.
std::optional<WireguardRange> wireguard_range(std::string_view text);

// Defaults.
inline constexpr std::string_view kUsualWireguardRange = "10.213.0.0/16";
inline constexpr int kUsualWireguardPort = 51820;

}  // namespace radl::sema

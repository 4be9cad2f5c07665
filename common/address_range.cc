#include "common/address_range.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace radl {

std::optional<std::string> address_range(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  const std::string address(text.substr(0, slash));
  const std::string_view length = text.substr(slash + 1);
  std::array<unsigned char, 16> bytes{};
  const int family = ::inet_pton(AF_INET, address.c_str(), bytes.data()) == 1    ? AF_INET
                     : ::inet_pton(AF_INET6, address.c_str(), bytes.data()) == 1 ? AF_INET6
                                                                                 : 0;
  const size_t bits = family == AF_INET ? 32 : 128;
  size_t prefix = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), prefix);
  if (family == 0 || error != std::errc() || end != length.data() + length.size() || prefix > bits)
    return std::nullopt;
  for (size_t bit = prefix; bit < bits; ++bit)
    bytes[bit / 8] &= static_cast<unsigned char>(~(0x80 >> bit % 8));
  char shown[INET6_ADDRSTRLEN];
  if (::inet_ntop(family, bytes.data(), shown, sizeof shown) == nullptr) return std::nullopt;
  return std::string(shown) + "/" + std::to_string(prefix);
}

bool ranges_overlap(std::string_view a, std::string_view b) {
  // The shorter prefix of both: two ranges overlap where one holds the other.
  auto prefix = [](std::string_view range) {
    size_t bits = 0;
    const std::string_view length = range.substr(std::min(range.size(), range.find('/') + 1));
    std::from_chars(length.data(), length.data() + length.size(), bits);
    return bits;
  };
  const std::string shorter = "/" + std::to_string(std::min(prefix(a), prefix(b)));
  if (!address_range(a) || !address_range(b)) return false;
  return address_range(std::string(a.substr(0, a.find('/'))) + shorter) ==
         address_range(std::string(b.substr(0, b.find('/'))) + shorter);
}

}  // namespace radl

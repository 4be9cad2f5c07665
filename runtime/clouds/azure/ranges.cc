#include "runtime/clouds/azure/ranges.h"

#include <fmt/format.h>

#include <arpa/inet.h>

#include <charconv>
#include <cstdint>
#include <optional>

#include "common/digest.h"

namespace radl::azure {
namespace {

constexpr const char* kUsual = "10.0.0.0/8";

struct Range {
  uint32_t first = 0;
  int bits = 0;
  uint32_t mask() const { return bits == 0 ? 0 : ~uint32_t{0} << (32 - bits); }
  bool overlaps(const Range& other) const {
    const uint32_t both = mask() & other.mask();
    return (first & both) == (other.first & both);
  }
  std::string text() const {
    return fmt::format("{}.{}.{}.{}/{}", first >> 24, (first >> 16) & 255, (first >> 8) & 255, first & 255,
                       bits);
  }
};

std::optional<Range> parse(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  in_addr address{};
  Range range;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + slash + 1, end, range.bits);
  if (::inet_pton(AF_INET, text.substr(0, slash).c_str(), &address) != 1 || read.ec != std::errc() ||
      read.ptr != end)
    return std::nullopt;
  range.first = ntohl(address.s_addr);
  // Azure's smallest subnet has 8 addresses.
  if (range.bits < 2 || range.bits > 29 || (range.first & ~range.mask()) != 0) return std::nullopt;
  return range;
}

bool is_free(const std::map<std::string, Range>& taken, const Range& range) {
  for (const auto& [name, other] : taken)
    if (range.overlaps(other)) return false;
  return true;
}

// A number of 1 to 254 that stays with the name.
int number_of_name(const std::string& name) {
  return 1 + static_cast<int>(std::stoul(sha256_hex(name).substr(0, 6), nullptr, 16) % 254);
}

}  // namespace

Result<Ranges> ranges_of(const std::vector<std::pair<std::string, std::string>>& wanted) {
  std::map<std::string, Range> taken;
  // Ranges fixed by the file come first; the others use the remaining space.
  for (int pass = 0; pass < 3; ++pass) {
    for (const auto& [name, text] : wanted) {
      const bool open = text.find('*') != text.npos;
      if (pass != (text.empty() ? 2 : open ? 1 : 0)) continue;
      const int first = text.empty() ? number_of_name(name) : 0;
      std::optional<Range> range;
      for (int tried = 0; tried < (text.empty() || open ? 256 : 1); ++tried) {
        const std::string number = std::to_string((first + tried) % 256);
        std::string here = text.empty() ? "10." + number + ".0.0/20" : text;
        for (size_t at = here.find('*'); at != here.npos; at = here.find('*')) here.replace(at, 1, number);
        range = parse(here);
        if (!range) return invalid(fmt::format("network {}: cidr = '{}' is not an IPv4 range", name, text));
        if (is_free(taken, *range)) break;
        range.reset();
      }
      if (!range)
        return invalid(
            fmt::format("network {}: cidr = '{}' overlaps another network's: in Azure the networks of a file "
                        "are subnets of one network",
                        name, text));
      taken[name] = *range;
    }
  }
  Ranges ranges;
  ranges.whole = {kUsual};
  const Range usual = *parse(kUsual);
  for (const auto& [name, range] : taken) {
    ranges.subnets[name] = range.text();
    if (!range.overlaps(usual)) ranges.whole.push_back(range.text());
  }
  return ranges;
}

}  // namespace radl::azure

// Ranges of IP addresses, as clouds and firewalls keep them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl {

// "10.1.0.0/16" of "10.1.2.3/16", "2001:db8::/32" of "2001:DB8:0::7/32": what lies behind the prefix is 0, as
// whoever is given such a range shows it afterwards. nullopt: not an address with a prefix length.
std::optional<std::string> address_range(std::string_view text);

// Whether the ranges overlap; false if either is not a range.
bool ranges_overlap(std::string_view a, std::string_view b);

}  // namespace radl

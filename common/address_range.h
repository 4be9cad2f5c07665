// Ranges of IP addresses, in the form that clouds and firewalls store.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl {

// Returns the canonical range, without the bits after the prefix, as clouds report it: "10.1.0.0/16" for
// "10.1.2.3/16", "2001:db8::/32" for "2001:DB8:0::7/32". nullopt: not an address with a prefix length.
std::optional<std::string> address_range(std::string_view text);

// True if the ranges overlap. False if either text is not a range.
bool ranges_overlap(std::string_view a, std::string_view b);

}  // namespace radl

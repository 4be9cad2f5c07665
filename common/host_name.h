// Host names by RFC 1123 (2.1) and RFC 952: labels of letters, digits and '-' joined by dots.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace radl {

// Describes an invalid name: byte range in it and a message.
struct HostNameFault {
  size_t begin = 0, end = 0;
  std::string message;
};

// nullopt if `name` is a valid host name. In a `pattern`, "#N#" stands for a number (RADL's node numbers).
std::optional<HostNameFault> host_name_fault(std::string_view name, bool pattern = false);

}  // namespace radl

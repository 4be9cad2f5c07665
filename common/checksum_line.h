// Lines in the format of `sha256sum`: "DIGEST  NAME". A line whose name contains a backslash, newline or
// carriage return begins with a backslash and escapes them as \\, \n and \r (GNU coreutils manual, "md5sum
// invocation").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl {

struct ChecksumLine {
  std::string digest, name;
};

// Without a trailing newline.
std::string checksum_line(std::string_view digest, std::string_view name);
// nullopt if the line is not a SHA-256 checksum line.
std::optional<ChecksumLine> read_checksum_line(std::string_view line);

}  // namespace radl

// Lines as `sha256sum` prints and reads them: "DIGEST  NAME". A name with a backslash, a newline or a
// carriage return is written with \\, \n and \r, and its line begins with a backslash (GNU coreutils manual,
// "md5sum invocation").
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace radl {

struct ChecksumLine {
  std::string digest, name;
};

// Without a newline at its end.
std::string checksum_line(std::string_view digest, std::string_view name);
// nullopt: it is none of SHA-256.
std::optional<ChecksumLine> read_checksum_line(std::string_view line);

}  // namespace radl

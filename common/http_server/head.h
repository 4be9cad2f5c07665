// The head of a request as sent. Nothing is decoded before it has been split.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::httpd {

struct RequestHead {
  std::string method;                                        // as sent: "GET"
  std::string path;                                          // begins with '/'; percent-encoded, as sent
  std::string query;                                         // the part after '?', percent-encoded
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in the order sent
  std::string peer;                                          // the client's IP address

  // The first header of this (lower-case) name; nullopt if missing.
  std::optional<std::string_view> header(std::string_view name) const;
  // Content-Length; nullopt if absent (a chunked body, or none).
  std::optional<uint64_t> length() const;

  // Splits the path at '/' and decodes each part: "/a%20b/c" gives {"a b", "c"}, "/" gives {}. Invalid: an
  // empty part, "." or "..", a bad '%', or a byte not allowed in names (NUL and other control characters, an
  // encoded '/' or '\').
  Result<std::vector<std::string>> segments() const;
  // Decoded names and values in the order sent, with '+' as a space. Invalid: a bad '%', a NUL, or a repeated
  // name, which two readers could interpret differently.
  Result<std::vector<std::pair<std::string, std::string>>> parameters() const;
};

// Splits "/path?query". Invalid: it does not begin with '/' (another host's address, "*"), or has a byte that
// must be encoded.
Result<std::pair<std::string, std::string>> split_target(std::string_view target);

}  // namespace radl::httpd

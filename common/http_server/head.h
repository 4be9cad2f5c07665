// The head of a request, as it was sent: nothing in it is decoded before it was taken apart.
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
  std::string query;                                         // what follows '?', percent-encoded
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case, in the order sent
  std::string peer;                                          // the client's IP address

  // The first header of this (lower-case) name; nothing: there is none.
  std::optional<std::string_view> header(std::string_view name) const;
  // Content-Length; nothing: none was sent (a chunked body, or none).
  std::optional<uint64_t> length() const;

  // The path between its slashes, each part decoded: "/a%20b/c" is {"a b", "c"}, "/" is {}. Invalid: an empty
  // part, "." or "..", a bad '%', or a byte that no name has (NUL and other control characters, '/' or '\'
  // that was encoded).
  Result<std::vector<std::string>> segments() const;
  // Names and values decoded, '+' as a space, in the order sent. Invalid: a bad '%', a NUL, or a name given
  // twice, for which two readers would take two values.
  Result<std::vector<std::pair<std::string, std::string>>> parameters() const;
};

// Takes "/path?query" apart. Invalid: it begins with no '/' (an address of another host, "*"), or has a byte
// that must be encoded.
Result<std::pair<std::string, std::string>> split_target(std::string_view target);

}  // namespace radl::httpd

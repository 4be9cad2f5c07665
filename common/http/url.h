// URLs: taken apart (RFC 3986), encoded, and printed without what is secret in them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::http {

// The URL without user, password, query and fragment.
std::string printable_url(std::string_view url);

// RFC 3986: everything but unreserved characters becomes %XX; '/' stays when keep_slash.
std::string percent_encode(std::string_view text, bool keep_slash = false);
Result<std::string> percent_decode(std::string_view text);

// "a=b&c=d", sorted by name, both sides encoded.
std::string query_string(const std::vector<std::pair<std::string, std::string>>& query);

// "a=b&c=d" taken apart and decoded, in its order. A pair that cannot be decoded is left out.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

struct Url {
  std::string scheme, user, password, host, port, path, query;  // as written; host without brackets
  // As libcurl's Host header: brackets around an IPv6 address, the port if it is not the scheme's own.
  std::string authority() const;
};
// Invalid when it is not an absolute URL.
Result<Url> parse_url(const std::string& url);
// Whether both are of one server: scheme, host in any letters, and port, written or not; without a user. What
// is secret for one may go to the other.
bool same_origin(const std::string& a, const std::string& b);
// The same of one that `from` has (a variable, a field of a file): Invalid, and named, unless it is an http
// or https URL with a host.
Result<Url> parse_http_url(const std::string& url, std::string_view from);

}  // namespace radl::http

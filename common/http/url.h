// Parses URLs (RFC 3986), encodes them, and prints them without secrets.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/status.h"

namespace radl::http {

// The URL without user, password, query and fragment.
std::string printable_url(std::string_view url);

// Percent-encodes all but RFC 3986's unreserved characters; keeps '/' if `keep_slash`.
std::string percent_encode(std::string_view text, bool keep_slash = false);
Result<std::string> percent_decode(std::string_view text);

// "a=b&c=d", sorted by name, both sides encoded.
std::string query_string(const std::vector<std::pair<std::string, std::string>>& query);

// Splits and decodes "a=b&c=d", keeping the order. Skips pairs that cannot be decoded.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

struct Url {
  std::string scheme, user, password, host, port, path, query;  // as written; host without brackets
  // As libcurl's Host header: brackets around an IPv6 address; no port if it is the default.
  std::string authority() const;
};
// Invalid if it is not an absolute URL.
Result<Url> parse_url(const std::string& url);
// True if both URLs have the same scheme, host (ignoring case) and port (explicit or default), and neither
// names a user. Secrets meant for one may then go to the other.
bool same_origin(const std::string& a, const std::string& b);
// Same for a URL from `from` (a variable, a field of a file). Invalid, naming `from`, unless it is an http or
// https URL with a host.
Result<Url> parse_http_url(const std::string& url, std::string_view from);

}  // namespace radl::http

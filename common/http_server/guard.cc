#include "common/http_server/guard.h"

#include <algorithm>
#include <cstdint>

namespace radl::httpd {
namespace {

// RFC 9110, section 5.6.2.
bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_field_value(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

bool same(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, {}, [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
}

// host[:port] of RFC 9110, section 7.2: a name, an IPv4 address, or an IPv6 address in brackets.
bool is_host(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("-._:[]").find(c) != std::string_view::npos;
  });
}

// A line that ended with CR LF leaves two bytes between its end and the next one's begin. Anything else is a
// bare LF, a NUL that cut the value, or a folded line, which lies elsewhere.
bool next_line(std::string_view before, std::string_view after) {
  const auto end = reinterpret_cast<uintptr_t>(before.data() + before.size());
  const auto begin = reinterpret_cast<uintptr_t>(after.data());
  return begin == end + 2;
}

}  // namespace

std::optional<std::string> malformed(std::string_view method, std::string_view version,
                                     const std::vector<HeaderPlace>& headers) {
  if (!is_token(method)) return "the method is not a word";
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return "the version of HTTP is not 1.1 or 1.0";
  size_t hosts = 0, lengths = 0, encodings = 0;
  std::string_view before = version;
  for (const auto& [name, value] : headers) {
    if (!is_token(name)) return "a header's name is not a word";
    if (!is_field_value(value)) return "a header has a control character";
    if (!next_line(before, name))
      return "a line of the head is folded, has a NUL, or does not end with CR LF";
    before = value;
    if (same(name, "host")) {
      ++hosts;
      if (!is_host(value)) return "Host is not a host";
    } else if (same(name, "content-length")) {
      ++lengths;
      const bool digits = std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
      if (value.empty() || value.size() > 18 || !digits) return "Content-Length is not a number";
    } else if (same(name, "transfer-encoding")) {
      ++encodings;
      if (!same(value, "chunked")) return "Transfer-Encoding is not \"chunked\"";
    }
  }
  if (hosts != 1) return "there must be one Host";
  if (lengths > 1) return "there is more than one Content-Length";
  if (encodings > 1) return "there is more than one Transfer-Encoding";
  if (lengths && encodings) return "there are both Content-Length and Transfer-Encoding";
  if (encodings && version == "HTTP/1.0") return "HTTP/1.0 has no Transfer-Encoding";
  return {};
}

}  // namespace radl::httpd

#include "common/http_server/head.h"

#include <algorithm>
#include <charconv>

#include "common/http/url.h"

namespace radl::httpd {
namespace {

Status bad(std::string text) { return Status(Code::Invalid, std::move(text)); }

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

Result<std::string> decode_field(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  auto decoded = http::percent_decode(spaced);
  if (decoded.ok() && decoded->find('\0') != std::string::npos) return bad("a parameter has a NUL byte");
  return decoded;
}

}  // namespace

std::optional<std::string_view> RequestHead::header(std::string_view name) const {
  const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
  if (found == headers.end()) return {};
  return found->second;
}

std::optional<uint64_t> RequestHead::length() const {
  const auto text = header("content-length");
  uint64_t value = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc()) return {};
  return value;
}

Result<std::vector<std::string>> RequestHead::segments() const {
  std::vector<std::string> parts;
  std::string_view whole = path;
  if (whole.ends_with('/')) whole.remove_suffix(1);
  for (size_t at = 1; at <= whole.size();) {
    const size_t end = std::min(whole.find('/', at), whole.size());
    auto part = http::percent_decode(whole.substr(at, end - at));
    if (!part.ok()) return part.status();
    if (part->empty() || *part == "." || *part == "..")
      return bad("the path has an empty part, \".\" or \"..\"");
    if (std::ranges::any_of(*part, [](char c) { return is_control(c) || c == '/' || c == '\\'; }))
      return bad("the path has a character that no name has");
    parts.push_back(std::move(*part));
    at = end + 1;
  }
  return parts;
}

Result<std::vector<std::pair<std::string, std::string>>> RequestHead::parameters() const {
  std::vector<std::pair<std::string, std::string>> out;
  for (size_t at = 0; at < query.size();) {
    const size_t end = std::min(query.find('&', at), query.size());
    const std::string_view field = std::string_view(query).substr(at, end - at);
    at = end + 1;
    if (field.empty()) continue;
    const size_t equals = std::min(field.find('='), field.size());
    auto name = decode_field(field.substr(0, equals));
    auto value = decode_field(field.substr(std::min(equals + 1, field.size())));
    if (!name.ok()) return name.status();
    if (!value.ok()) return value.status();
    if (std::ranges::find(out, *name, &std::pair<std::string, std::string>::first) != out.end())
      return bad("the parameter \"" + *name + "\" is given twice");
    out.emplace_back(std::move(*name), std::move(*value));
  }
  return out;
}

Result<std::pair<std::string, std::string>> split_target(std::string_view target) {
  if (!target.starts_with('/')) return bad("the target of the request does not begin with '/'");
  const bool clean = std::ranges::all_of(target, [](char c) {
    return static_cast<unsigned char>(c) > 0x20 && static_cast<unsigned char>(c) < 0x7f && c != '#';
  });
  if (!clean) return bad("the target of the request has a character that must be percent-encoded");
  const size_t mark = std::min(target.find('?'), target.size());
  return std::pair(std::string(target.substr(0, mark)),
                   std::string(target.substr(std::min(mark + 1, target.size()))));
}

}  // namespace radl::httpd

#include "compiler/passes/outports.h"

#include <charconv>
#include <optional>

namespace radl::passes {

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<int> number(std::string_view text) {
  int value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > 65535)
    return std::nullopt;
  return value;
}

struct Ports {
  int first = 0, last = 0;
  std::string_view protocol;  // empty: none written
};

// n or n:m, then optionally /protocol.
std::optional<Ports> ports(std::string_view text) {
  Ports made;
  if (size_t slash = text.find('/'); slash != text.npos) {
    made.protocol = text.substr(slash + 1);
    if (made.protocol != "tcp" && made.protocol != "udp" && made.protocol != "icmp") return std::nullopt;
    text = text.substr(0, slash);
  }
  size_t colon = text.find(':');
  auto first = number(text.substr(0, colon));
  auto last = colon == text.npos ? first : number(text.substr(colon + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  made.first = *first;
  made.last = *last;
  return made;
}

// A network stands in front: four groups of digits and a slash, before the first '-'.
bool is_cidr(std::string_view text) {
  int groups = 0;
  size_t slash = text.find('/');
  if (slash == text.npos) return false;
  for (size_t at = 0; at < slash; groups++) {
    size_t digits = 0;
    while (at + digits < slash && text[at + digits] >= '0' && text[at + digits] <= '9') digits++;
    if (digits == 0 || digits > 3) return false;
    at += digits + 1;
  }
  return groups == 4 && number(text.substr(slash + 1)).has_value();
}

std::optional<ir::PortRule> item(std::string_view text) {
  ir::PortRule rule;
  if (size_t dash = text.find('-'); dash != text.npos && is_cidr(text.substr(0, dash))) {
    rule.cidr = std::string(text.substr(0, dash));
    text = text.substr(dash + 1);
  }
  size_t dash = text.find('-');
  auto remote = ports(text.substr(0, dash));
  if (!remote) return std::nullopt;
  auto local = dash == text.npos ? remote : ports(text.substr(dash + 1));
  if (!local) return std::nullopt;
  rule.protocol = std::string(remote->protocol.empty() ? "tcp" : remote->protocol);
  rule.remote = remote->first;
  rule.remote_end = remote->last;
  bool range = remote->first != remote->last;  // a range is not mapped
  rule.local = range ? remote->first : local->first;
  rule.local_end = range ? remote->last : local->last;
  return rule;
}

}  // namespace

std::vector<ir::PortRule> parse_outports(std::string_view text) {
  std::vector<ir::PortRule> rules;
  while (!text.empty()) {
    size_t comma = std::min(text.find(','), text.size());
    if (auto rule = item(trim(text.substr(0, comma)))) rules.push_back(std::move(*rule));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return rules;
}

}  // namespace radl::passes

#include "runtime/clouds/port_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "runtime/clouds/shown.h"

namespace radl {
namespace {

std::string ports_text(int from, int to) {
  if (from < 0) return "";
  return from == to ? fmt::format(" {}", from) : fmt::format(" {}-{}", from, to);
}

bool parse_port(std::string_view text, int& port) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

// "10.0.0.0/8", "2001:db8::/32", and Amazon's prefix lists ("pl-12345").
bool is_address(const std::string& source) {
  return source.find_first_of(".:") != source.npos || source.starts_with("pl-");
}

}  // namespace

std::string rule_text(const ir::PortRule& rule) {
  if (rule.protocol == "icmp") return "icmp from " + rule.cidr;
  return fmt::format("{}{} from {}", rule.protocol, ports_text(rule.local, rule.local_end), rule.cidr);
}

std::vector<std::string> network_rules(const ir::Network& network) {
  std::vector<std::string> rules = {kFromThisGroup};
  for (const ir::PortRule& rule : network.ports) rules.push_back(rule_text(rule));
  std::sort(rules.begin(), rules.end());
  rules.erase(std::unique(rules.begin(), rules.end()), rules.end());
  return rules;
}

std::string InboundRule::text(const std::string& own_group) const {
  const std::string ports = protocol == "tcp" || protocol == "udp" ? ports_text(from, to) : "";
  if (group.empty()) return protocol + ports + " from " + cidr;
  return protocol + ports + " from " + (group == own_group ? "this group" : group);
}

std::optional<InboundRule> parse_rule(const std::string& text, const std::string& own_group,
                                      const std::string& caller) {
  const size_t from = text.find(" from ");
  if (from == text.npos) return std::nullopt;
  const std::string source = text.substr(from + 6);
  const std::string_view left = std::string_view(text).substr(0, from);
  const size_t blank = left.find(' ');
  InboundRule rule;
  rule.protocol = left.substr(0, blank);
  if (blank != left.npos) {
    std::string_view ports = left.substr(blank + 1);
    const size_t dash = ports.find('-');
    if (!parse_port(ports.substr(0, dash), rule.from)) return std::nullopt;
    rule.to = rule.from;
    if (dash != ports.npos && !parse_port(ports.substr(dash + 1), rule.to)) return std::nullopt;
  }
  if (source == "this group")
    rule.group = own_group;
  else if (source == "this computer")
    rule.cidr = caller;
  else
    (is_address(source) ? rule.cidr : rule.group) = source;
  return rule;
}

std::vector<std::string> rules_wanted(const Json& spec) {
  return spec.value("rules", Json::array()).get<std::vector<std::string>>();
}

bool names_this_computer(const std::vector<std::string>& rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [](const std::string& rule) { return rule.ends_with("from this computer"); });
}

std::vector<std::string> rules_shown(const std::vector<InboundRule>& rules, const std::string& own_group,
                                     const std::string& caller, std::vector<std::string> others) {
  std::vector<std::string> texts = std::move(others);
  for (const InboundRule& rule : rules) {
    const bool ours =
        rule.protocol == "tcp" && rule.from == 22 && rule.to == 22 && !caller.empty() && rule.cidr == caller;
    texts.push_back(ours ? kSshFromThisComputer : rule.text(own_group));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

InboundRule all_out() { return {"all", -1, -1, "0.0.0.0/0", ""}; }

bool lets_everything_out(const InboundRule& rule) {
  return rule.protocol == "all" && rule.group.empty() && (rule.cidr == "0.0.0.0/0" || rule.cidr == "::/0");
}

OutboundChanges outbound_changes(const std::vector<InboundRule>& outbound) {
  OutboundChanges changes;
  changes.lacking = std::none_of(outbound.begin(), outbound.end(), [](const InboundRule& rule) {
    return lets_everything_out(rule) && rule.cidr == all_out().cidr;
  });
  for (size_t i = 0; i < outbound.size(); ++i)
    if (!lets_everything_out(outbound[i])) changes.too_many.push_back(i);
  return changes;
}

std::vector<std::string> OutboundChanges::texts(const std::vector<InboundRule>& outbound,
                                                const std::string& own_group) const {
  std::vector<std::string> texts;
  if (lacking) texts.push_back(kNothingOut);
  for (size_t i : too_many) {
    std::string text = outbound[i].text(own_group);
    texts.push_back(text.replace(text.find(" from "), 6, " to "));
  }
  return texts;
}

Result<RuleChanges> rule_changes(const std::vector<InboundRule>& now, const std::vector<std::string>& wanted,
                                 const std::string& own_group, const std::string& caller) {
  RuleChanges changes;
  std::set<std::string> texts, there;
  for (const InboundRule& rule : now) there.insert(rule.text(own_group));
  for (const std::string& text : wanted) {
    auto rule = parse_rule(text, own_group, caller);
    if (!rule) return invalid(fmt::format("'{}' is not a rule", text));
    texts.insert(rule->text(own_group));
    if (!there.count(rule->text(own_group))) changes.lacking.push_back(std::move(*rule));
  }
  for (size_t i = 0; i < now.size(); ++i)
    if (!texts.count(now[i].text(own_group))) changes.too_many.push_back(i);
  return changes;
}

bool may_remove(const Order& order, const std::vector<std::string>& texts) {
  const std::optional<Json> shown = shown_before(order, "rules");
  if (!shown) return true;
  return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
    return std::find(shown->begin(), shown->end(), text) != shown->end();
  });
}

std::vector<size_t> outbound_to_remove(const Order& order, const std::vector<InboundRule>& outbound) {
  std::vector<size_t> rules;
  for (size_t i : outbound_changes(outbound).too_many) {
    const OutboundChanges alone{false, {i}};
    if (may_remove(order, alone.texts(outbound, order.id))) rules.push_back(i);
  }
  return rules;
}

}  // namespace radl

#include "runtime/clouds/ec2/rules.h"

#include <fmt/format.h>

#include <charconv>

namespace radl::ec2 {
namespace {

std::string ports_text(int from, int to) {
  if (from < 0) return "";
  return from == to ? fmt::format(" {}", from) : fmt::format(" {}-{}", from, to);
}

bool parse_port(std::string_view text, int& port) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

std::string rule_text(const ir::PortRule& rule) {
  if (rule.protocol == "icmp") return "icmp from " + rule.cidr;
  return fmt::format("{}{} from {}", rule.protocol, ports_text(rule.local, rule.local_end), rule.cidr);
}

std::string Rule::text(const std::string& own_group) const {
  const std::string kind = protocol == "-1" ? "all" : protocol;
  const std::string ports = protocol == "tcp" || protocol == "udp" ? ports_text(from, to) : "";
  if (group.empty()) return kind + ports + " from " + cidr;
  return kind + ports + " from " + (group == own_group ? "this group" : group);
}

std::optional<Rule> parse_rule(const std::string& text, const std::string& own_group,
                               const std::string& caller) {
  const size_t from = text.find(" from ");
  if (from == text.npos) return std::nullopt;
  const std::string source = text.substr(from + 6);
  const std::string_view left = std::string_view(text).substr(0, from);
  const size_t blank = left.find(' ');
  Rule rule;
  rule.protocol = left.substr(0, blank) == "all" ? "-1" : std::string(left.substr(0, blank));
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
  else if (source.starts_with("sg-"))
    rule.group = source;
  else
    rule.cidr = source;
  return rule;
}

void add_rules(Parameters& parameters, const std::vector<Rule>& rules) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const Rule& rule = rules[i];
    const std::string name = fmt::format("IpPermissions.{}.", i + 1);
    parameters.emplace_back(name + "IpProtocol", rule.protocol);
    if (rule.protocol != "-1") {
      parameters.emplace_back(name + "FromPort", std::to_string(rule.from));
      parameters.emplace_back(name + "ToPort", std::to_string(rule.to));
    }
    if (!rule.group.empty()) {
      parameters.emplace_back(name + "Groups.1.GroupId", rule.group);
    } else if (rule.cidr.starts_with("pl-")) {
      parameters.emplace_back(name + "PrefixListIds.1.PrefixListId", rule.cidr);
    } else if (rule.cidr.find(':') != rule.cidr.npos) {
      parameters.emplace_back(name + "Ipv6Ranges.1.CidrIpv6", rule.cidr);
    } else {
      parameters.emplace_back(name + "IpRanges.1.CidrIp", rule.cidr);
    }
  }
}

std::vector<Rule> rules_in(pugi::xml_node permissions) {
  std::vector<Rule> rules;
  for (pugi::xml_node item : permissions.children("item")) {
    Rule rule;
    rule.protocol = text_of(item, "ipProtocol");
    rule.from = item.child("fromPort").text().as_int(-1);
    rule.to = item.child("toPort").text().as_int(-1);
    auto add = [&](const char* set, const char* field, std::string Rule::*source) {
      for (pugi::xml_node one : item.child(set).children("item")) {
        Rule from = rule;
        from.*source = text_of(one, field);
        rules.push_back(std::move(from));
      }
    };
    add("ipRanges", "cidrIp", &Rule::cidr);
    add("ipv6Ranges", "cidrIpv6", &Rule::cidr);
    add("groups", "groupId", &Rule::group);
    add("prefixListIds", "prefixListId", &Rule::cidr);
  }
  return rules;
}

}  // namespace radl::ec2

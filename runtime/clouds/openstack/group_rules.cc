#include "runtime/clouds/openstack/group_rules.h"

namespace radl::openstack {
namespace {

// Neutron takes numbers as well.
std::string protocol_name(const Json& rule) {
  std::string protocol = text_of(rule, "protocol");
  if (protocol.empty() || protocol == "any" || protocol == "0") return "all";
  if (protocol == "6") return "tcp";
  if (protocol == "17") return "udp";
  return protocol == "1" ? "icmp" : protocol;
}

const char* any_address(const std::string& ethertype) { return ethertype == "IPv6" ? "::/0" : "0.0.0.0/0"; }

}  // namespace

std::vector<GroupRule> rules_in(const Json& list, const char* direction) {
  std::vector<GroupRule> rules;
  if (!list.is_array()) return rules;
  for (const Json& item : list) {
    if (text_of(item, "direction") != direction) continue;
    GroupRule one;
    one.id = text_of(item, "id");
    one.rule.protocol = protocol_name(item);
    one.rule.from = static_cast<int>(number_of(item, "port_range_min", -1));
    one.rule.to = static_cast<int>(number_of(item, "port_range_max", one.rule.from));
    one.rule.group = text_of(item, "remote_group_id");
    if (one.rule.group.empty()) {
      one.rule.cidr = text_of(item, "remote_ip_prefix");
      if (one.rule.cidr.empty()) one.rule.cidr = any_address(text_of(item, "ethertype"));
    }
    one.of_this_computer = text_of(item, "description") == kThisComputer;
    rules.push_back(std::move(one));
  }
  return rules;
}

Json rule_body(const InboundRule& rule, const std::string& group, const char* direction,
               bool of_this_computer) {
  const bool v6 = rule.cidr.find(':') != rule.cidr.npos;
  Json body = {{"security_group_id", group}, {"direction", direction}, {"ethertype", v6 ? "IPv6" : "IPv4"}};
  if (rule.protocol != "all") body["protocol"] = rule.protocol;
  if (rule.from >= 0 && rule.protocol != "icmp") {
    body["port_range_min"] = rule.from;
    body["port_range_max"] = rule.to;
  }
  if (!rule.group.empty())
    body["remote_group_id"] = rule.group;
  else
    body["remote_ip_prefix"] = rule.cidr;
  if (of_this_computer) body["description"] = kThisComputer;
  return {{"security_group_rule", std::move(body)}};
}

}  // namespace radl::openstack

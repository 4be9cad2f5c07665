#include "runtime/clouds/ec2/rules.h"

#include <fmt/format.h>

namespace radl::ec2 {

void add_rules(Parameters& parameters, const std::vector<InboundRule>& rules) {
  for (size_t i = 0; i < rules.size(); ++i) {
    const InboundRule& rule = rules[i];
    const std::string name = fmt::format("IpPermissions.{}.", i + 1);
    const bool all = rule.protocol == "all";
    parameters.emplace_back(name + "IpProtocol", all ? "-1" : rule.protocol);
    if (!all) {
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

std::vector<InboundRule> rules_in(pugi::xml_node permissions) {
  std::vector<InboundRule> rules;
  for (pugi::xml_node item : permissions.children("item")) {
    InboundRule rule;
    rule.protocol = text_of(item, "ipProtocol");
    if (rule.protocol == "-1") rule.protocol = "all";
    rule.from = item.child("fromPort").text().as_int(-1);
    rule.to = item.child("toPort").text().as_int(-1);
    auto add = [&](const char* set, const char* field, std::string InboundRule::*source) {
      for (pugi::xml_node one : item.child(set).children("item")) {
        InboundRule from = rule;
        from.*source = text_of(one, field);
        rules.push_back(std::move(from));
      }
    };
    add("ipRanges", "cidrIp", &InboundRule::cidr);
    add("ipv6Ranges", "cidrIpv6", &InboundRule::cidr);
    add("groups", "groupId", &InboundRule::group);
    add("prefixListIds", "prefixListId", &InboundRule::cidr);
  }
  return rules;
}

}  // namespace radl::ec2

// Inbound rules of a security group in words, as specs and plans have them: "tcp 22 from 203.0.113.5/32",
// "tcp 8000-8010 from 0.0.0.0/0", "icmp from 10.0.0.0/8", "all from this group", "tcp 22 from this computer".
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "runtime/clouds/ec2/api.h"

namespace radl::ec2 {

inline constexpr const char* kFromThisGroup = "all from this group";
inline constexpr const char* kSshFromThisComputer = "tcp 22 from this computer";

// What a network's ports ask for.
std::string rule_text(const ir::PortRule& rule);

// A rule as EC2 takes it.
struct Rule {
  std::string protocol;     // tcp, udp, icmp, -1
  int from = -1, to = -1;   // -1: all
  std::string cidr, group;  // one of both
  std::string text(const std::string& own_group) const;
};
// `caller`: the CIDR of "this computer". nullopt: it is no rule.
std::optional<Rule> parse_rule(const std::string& text, const std::string& own_group,
                               const std::string& caller);
// IpPermissions.N.* of a request.
void add_rules(Parameters& parameters, const std::vector<Rule>& rules);
// The rules of an <ipPermissions> element, one for each source.
std::vector<Rule> rules_in(pugi::xml_node permissions);

}  // namespace radl::ec2

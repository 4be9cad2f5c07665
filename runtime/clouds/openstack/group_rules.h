// Converts inbound rules (runtime/clouds/port_rules.h) to and from Neutron's API.
#pragma once

#include <string>
#include <vector>

#include "common/openstack/values.h"
#include "runtime/clouds/port_rules.h"

namespace radl::openstack {

struct Asking;  // runtime/clouds/openstack/kind.h

// Description of the rule for the computer that runs radlc, whose address may change.
inline constexpr const char* kThisComputer = "radlc: this computer";

struct GroupRule {
  std::string id;
  InboundRule rule;
  bool of_this_computer = false;
};

// The rules of a list "security_group_rules" in one direction: "ingress", "egress".
std::vector<GroupRule> rules_in(const Json& list, const char* direction);
// The body of the request that creates a rule.
Json rule_body(const InboundRule& rule, const std::string& group, const char* direction,
               bool of_this_computer);

// Invalid: such a group exists, but not by `token` nor, if that is empty, of this infrastructure.
Status is_new_group(Asking& call, const std::string& name, const std::string& token);

}  // namespace radl::openstack

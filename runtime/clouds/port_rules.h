// Rules of security groups as text in specs and plans: "tcp 22 from 203.0.113.5/32", "tcp 8000-8010 from
// 0.0.0.0/0", "icmp from 10.0.0.0/8", "all from this group", "tcp 22 from this computer".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

inline constexpr const char* kFromThisGroup = "all from this group";
inline constexpr const char* kSshFromThisComputer = "tcp 22 from this computer";

// The rule for a port opened by a network.
std::string rule_text(const ir::PortRule& rule);
// The rules of a network, sorted, without duplicates: its machines reach each other, and its ports are open.
std::vector<std::string> network_rules(const ir::Network& network);

struct InboundRule {
  std::string protocol;     // tcp, udp, icmp, "all"
  int from = -1, to = -1;   // -1: all
  std::string cidr, group;  // exactly one is set
  std::string text(const std::string& own_group) const;
};
// `caller`: the CIDR of "this computer". A source that is not an address is a group ID. nullopt: invalid.
std::optional<InboundRule> parse_rule(const std::string& text, const std::string& own_group,
                                      const std::string& caller);

// The texts of a spec's "rules".
std::vector<std::string> rules_wanted(const Json& spec);
bool names_this_computer(const std::vector<std::string>& rules);
// The rules of a group as in a spec, sorted. `caller`: the CIDR of "this computer"; "": none. `others`:
// further texts to include.
std::vector<std::string> rules_shown(const std::vector<InboundRule>& rules, const std::string& own_group,
                                     const std::string& caller, std::vector<std::string> others = {});

// radlc's groups allow all outbound traffic, like new groups in clouds. Texts beside the rules show
// deviations: "nothing to 0.0.0.0/0" (the rule was revoked), "tcp 443 to 10.0.0.0/8" (one was added).
inline constexpr const char* kNothingOut = "nothing to 0.0.0.0/0";
bool lets_everything_out(const InboundRule& rule);  // over IPv4 or IPv6
struct OutboundChanges {
  bool lacking = false;          // all_out()
  std::vector<size_t> too_many;  // indices of outbound rules
  std::vector<std::string> texts(const std::vector<InboundRule>& outbound,
                                 const std::string& own_group) const;
};
OutboundChanges outbound_changes(const std::vector<InboundRule>& outbound);
InboundRule all_out();  // to 0.0.0.0/0

// Changes that turn a group's rules `now` into `wanted`. Invalid: one is not a rule.
struct RuleChanges {
  std::vector<InboundRule> lacking;
  std::vector<size_t> too_many;  // indices into `now`
};
Result<RuleChanges> rule_changes(const std::vector<InboundRule>& now, const std::vector<std::string>& wanted,
                                 const std::string& own_group, const std::string& caller);
// True if an update may remove the rule shown in a spec by one of these texts: its plan showed the rule, or
// there was no plan (shown.h).
bool may_remove(const Order& order, const std::vector<std::string>& texts);
// The part of OutboundChanges::too_many that the order may remove.
std::vector<size_t> outbound_to_remove(const Order& order, const std::vector<InboundRule>& outbound);

}  // namespace radl

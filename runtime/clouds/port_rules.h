// What a security group lets in, in words, as specs and plans have them: "tcp 22 from 203.0.113.5/32",
// "tcp 8000-8010 from 0.0.0.0/0", "icmp from 10.0.0.0/8", "all from this group", "tcp 22 from this computer".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl {

inline constexpr const char* kFromThisGroup = "all from this group";
inline constexpr const char* kSshFromThisComputer = "tcp 22 from this computer";

// What a network's ports ask for.
std::string rule_text(const ir::PortRule& rule);
// Those of a network, sorted, each once: its machines reach each other, and its ports are open.
std::vector<std::string> network_rules(const ir::Network& network);

struct InboundRule {
  std::string protocol;     // tcp, udp, icmp, "all"
  int from = -1, to = -1;   // -1: all
  std::string cidr, group;  // one of both
  std::string text(const std::string& own_group) const;
};
// `caller`: the CIDR of "this computer". A source that is no address is a group's id. nullopt: it is no rule.
std::optional<InboundRule> parse_rule(const std::string& text, const std::string& own_group,
                                      const std::string& caller);

// The texts of a spec's "rules".
std::vector<std::string> rules_wanted(const Json& spec);
bool names_this_computer(const std::vector<std::string>& rules);
// The rules of a group as a spec has them, sorted. `caller`: the CIDR that "this computer" has; "": none.
// `others`: texts of what else there is, shown among them.
std::vector<std::string> rules_shown(const std::vector<InboundRule>& rules, const std::string& own_group,
                                     const std::string& caller, std::vector<std::string> others = {});

// Groups of radlc let everything out, as clouds create them. How one differs from that, as texts beside its
// rules: "nothing to 0.0.0.0/0" (the rule was revoked), "tcp 443 to 10.0.0.0/8" (one was added).
inline constexpr const char* kNothingOut = "nothing to 0.0.0.0/0";
bool lets_everything_out(const InboundRule& rule);  // over IPv4 or IPv6
struct OutboundChanges {
  bool lacking = false;          // all_out()
  std::vector<size_t> too_many;  // of the outbound rules
  std::vector<std::string> texts(const std::vector<InboundRule>& outbound,
                                 const std::string& own_group) const;
};
OutboundChanges outbound_changes(const std::vector<InboundRule>& outbound);
InboundRule all_out();  // to 0.0.0.0/0

// What to do about a group whose rules are `now` so that they are `wanted`. Invalid: one of them is no rule.
struct RuleChanges {
  std::vector<InboundRule> lacking;
  std::vector<size_t> too_many;  // of `now`
};
Result<RuleChanges> rule_changes(const std::vector<InboundRule>& now, const std::vector<std::string>& wanted,
                                 const std::string& own_group, const std::string& caller);
// Whether an update may remove the rule that a spec shows with one of these texts: its plan has shown it, or
// no plan was made (shown.h).
bool may_remove(const Order& order, const std::vector<std::string>& texts);
// Of OutboundChanges::too_many, those that it may remove.
std::vector<size_t> outbound_to_remove(const Order& order, const std::vector<InboundRule>& outbound);

}  // namespace radl

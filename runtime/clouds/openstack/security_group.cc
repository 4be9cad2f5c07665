// What may come in: one group for each network of the file, and one that lets this computer log in.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/clouds/openstack/group_rules.h"
#include "runtime/clouds/openstack/kind.h"

namespace radl::openstack {
namespace {

class SecurityGroup : public Kind {
 public:
  const char* type() const override { return "security_group"; }

  Asked create(Asking& call, const Order& order) const override {
    if (const std::string name = order.spec.value("name", ""); !name.empty())
      if (Status right = is_new_group(call, name, order.token); !right.ok())
        return Asked::refused(Status(right).at(order.address));
    Posted posted = post(
        call.services.network, call.context, "/security-groups",
        {{"security_group",
          {{"name", name_for(call.context, order)}, {"description", to_line(mark_of(call.context, order))}}}},
        false);
    if (!posted.accepted()) return posted.asked;
    const std::string id = text_of(member(posted.answer, "security_group"), "id");
    call.memory.note_name(id, order.address);
    return rules_wanted(order.spec).empty() ? Asked::accepted(id) : Asked::accepted_so_far(id);
  }

  // What lacks is let in first, then what is too much is shut out: nobody who may come in is cut off.
  Asked update(Asking& call, const Order& order) const override {
    auto group = read(call.services.network, call.context, "/security-groups/" + order.id);
    if (!group.ok()) return Asked::refused(group.status());
    const auto there = rules_in(list_of(member(*group, "security_group"), "security_group_rules"));
    const auto wanted = rules_wanted(order.spec);
    std::string caller;
    if (names_this_computer(wanted)) {
      auto asked = call.memory.caller([&] { return call.caller(call.context.stop); });
      if (!asked.ok()) return Asked::refused(asked.status());
      caller = *asked;
    }
    std::vector<InboundRule> now;
    for (const GroupRule& one : there) now.push_back(one.rule);
    auto changes = rule_changes(now, wanted, order.id, caller);
    if (!changes.ok()) return Asked::refused(changes.status());
    for (const InboundRule& rule : changes->lacking) {
      const bool ours = !caller.empty() && rule.cidr == caller && rule.from == 22;
      Posted posted = post(call.services.network, call.context, "/security-group-rules",
                           rule_body(rule, order.id, ours), true);
      // Another request has made it.
      if (!posted.accepted() && posted.asked.status.code() != Code::Exists) return posted.asked;
    }
    for (size_t i : changes->too_many) {
      Asked gone =
          gone_or(remove(call.services.network, call.context, "/security-group-rules/" + there[i].id));
      if (gone.answer != Asked::Answer::Accepted) return gone;
    }
    return Asked::accepted(order.id);
  }

  Asked destroy(Asking& call, const Order& order) const override {
    return remove(call.services.network, call.context, "/security-groups/" + order.id).asked;
  }

  Status mark(Asking& call, const Order& order) const override {
    return mark_in_network(call, order, "/security-groups", "security_group");
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return look_in_network(
        call, wish, type(), "/security-groups", "security_groups",
        [&](const Json& item, Seen& one) {
          const auto there = rules_in(list_of(item, "security_group_rules"));
          std::vector<InboundRule> rules;
          bool of_this_computer = false;
          for (const GroupRule& rule : there) {
            rules.push_back(rule.rule);
            of_this_computer |= rule.of_this_computer;
          }
          std::string caller;
          if (of_this_computer && !one.address.empty()) {
            auto now = call.memory.caller([&] { return call.caller(call.context.stop); });
            if (now.ok()) caller = *now;
          }
          one.spec = {{"rules", rules_shown(rules, one.id, caller)}};
          one.attributes = {{"name", text_of(item, "name")}};
        },
        seen);
  }

  Impact impact(const Json& before, const Json& after) const override {
    if (differs(before, after, "name")) return replace("a security group keeps its name");
    return {Impact::Kind::InPlace, ""};
  }
};

}  // namespace

// Neutron would make a second one, and nobody could tell them apart.
Status is_new_group(Asking& call, const std::string& name, const std::string& token) {
  std::string other;
  Status asked = call.services.network.each(
      "/security-groups", "security_groups", {{"name", name}}, waits(call.context), [&](const Json& item) {
        const Mark mark = from_line(text_of(item, "description"));
        const bool own = token.empty() ? mark.ours(call.context) : mark.token == token;
        if (text_of(item, "name") == name && !own) other = text_of(item, "id");
      });
  if (!asked.ok() || other.empty()) return asked;
  return invalid(
             fmt::format("sg_name = '{}': there is a security group of that name already, {}", name, other))
      .with_hint("take another name, or make it this infrastructure's: `radlc import`");
}

std::unique_ptr<Kind> make_security_group() { return std::make_unique<SecurityGroup>(); }

}  // namespace radl::openstack

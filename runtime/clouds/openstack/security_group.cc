// What may come in: one group for each network of the file, and one that lets this computer log in.
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/openstack/group_rules.h"
#include "runtime/clouds/openstack/kind.h"
#include "runtime/clouds/openstack/server.h"

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

  // Missing rules are added before surplus ones are removed, so that allowed traffic is never cut off.
  Asked update(Asking& call, const Order& order) const override {
    auto group = read(call.services.network, call.context, "/security-groups/" + order.id);
    if (!group.ok()) return Asked::refused(group.status());
    const Json& listed = list_of(member(*group, "security_group"), "security_group_rules");
    const auto there = rules_in(listed, kIn);
    const auto wanted = rules_wanted(order.spec);
    std::string caller;
    if (names_this_computer(wanted)) {
      auto asked = call.memory.caller([&] { return call.caller(call.context.stop); });
      if (!asked.ok()) return Asked::refused(asked.status());
      caller = *asked;
    }
    auto changes = rule_changes(alone(there), wanted, order.id, caller);
    if (!changes.ok()) return Asked::refused(changes.status());
    for (const InboundRule& rule : changes->lacking) {
      const bool ours = !caller.empty() && rule.cidr == caller && rule.from == 22;
      Asked made = make_rule(call, rule_body(rule, order.id, kIn, ours));
      if (made.answer != Asked::Answer::Accepted) return made;
    }
    for (size_t i : changes->too_many) {
      std::vector<std::string> texts = {there[i].rule.text(order.id)};
      if (there[i].of_this_computer) texts.push_back(kSshFromThisComputer);
      if (!may_remove(order, texts)) continue;
      Asked gone = remove_rule(call, there[i].id);
      if (gone.answer != Asked::Answer::Accepted) return gone;
    }
    return change_outbound(call, order, rules_in(listed, kOut));
  }

  Asked destroy(Asking& call, const Order& order) const override {
    Posted posted = remove(call.services.network, call.context, "/security-groups/" + order.id);
    if (posted.http_status != 409) return std::move(posted.asked);
    const std::string users = users_of(call, order.id);
    if (!users.empty())
      posted.asked.status =
          Status(posted.asked.status.code(), posted.asked.status.message() + ": used by " + users)
              .with_hint(posted.asked.status.hint());
    return std::move(posted.asked);
  }

  Json marks(const Context& context, const Order& order) const override {
    return marks_in_network(context, order);
  }
  Status mark(Asking& call, const Order& order) const override {
    return mark_in_network(call, order, "/security-groups", "security_group");
  }

  Status look(Asking& call, const Wish& wish, std::vector<Seen>& seen) const override {
    return look_in_network(
        call, wish, type(), "/security-groups", "security_groups",
        [&](const Json& item, Seen& one) {
          const Json& listed = list_of(item, "security_group_rules");
          const auto there = rules_in(listed, kIn);
          const bool of_this_computer = std::any_of(
              there.begin(), there.end(), [](const GroupRule& rule) { return rule.of_this_computer; });
          std::string caller;
          if (of_this_computer && !one.address.empty()) {
            auto now = call.memory.caller([&] { return call.caller(call.context.stop); });
            if (now.ok()) caller = *now;
          }
          const auto outbound = alone(rules_in(listed, kOut));
          one.spec = {{"rules", rules_shown(alone(there), one.id, caller,
                                            outbound_changes(outbound).texts(outbound, one.id))}};
          one.attributes = {{"name", text_of(item, "name")}};
        },
        seen);
  }

  Impact impact(const Json& before, const Json& after) const override {
    if (differs(before, after, "name")) return replace("a security group keeps its name");
    return {Impact::Kind::InPlace, ""};
  }

 private:
  // The ports that keep a group from being deleted; "": that cannot be found out, or none does any more.
  static std::string users_of(Asking& call, const std::string& id) {
    std::vector<std::string> users;
    (void)call.services.network.each(
        "/ports", "ports", {{"security_groups", id}}, waits(call.context), [&](const Json& item) {
          const PortNow port = port_in(item);
          if (!std::binary_search(port.groups.begin(), port.groups.end(), id)) return;
          const std::string server = text_of(item, "device_id");
          users.push_back("port " + port.id + (server.empty() ? "" : " of " + server));
        });
    return join(users, ", ");
  }

  static constexpr const char *kIn = "ingress", *kOut = "egress";

  static std::vector<InboundRule> alone(const std::vector<GroupRule>& rules) {
    std::vector<InboundRule> alone;
    for (const GroupRule& one : rules) alone.push_back(one.rule);
    return alone;
  }

  static Asked make_rule(Asking& call, Json body) {
    Posted posted = post(call.services.network, call.context, "/security-group-rules", std::move(body), true);
    // Another request has made it.
    if (!posted.accepted() && posted.asked.status.code() == Code::Exists) return Asked::accepted();
    return posted.asked;
  }

  static Asked remove_rule(Asking& call, const std::string& id) {
    return gone_or(remove(call.services.network, call.context, "/security-group-rules/" + id));
  }

  static Asked change_outbound(Asking& call, const Order& order, const std::vector<GroupRule>& now) {
    if (outbound_changes(alone(now)).lacking) {
      Asked made = make_rule(call, rule_body(all_out(), order.id, kOut, false));
      if (made.answer != Asked::Answer::Accepted) return made;
    }
    for (size_t i : outbound_to_remove(order, alone(now))) {
      Asked gone = remove_rule(call, now[i].id);
      if (gone.answer != Asked::Answer::Accepted) return gone;
    }
    return Asked::accepted(order.id);
  }
};

}  // namespace

// Neutron would create an indistinguishable second one.
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
             fmt::format("sg_name = '{}': a security group with this name exists already: {}", name, other))
      .with_hint("choose another name, or import the group: `radlc import`");
}

std::unique_ptr<Kind> make_security_group() { return std::make_unique<SecurityGroup>(); }

}  // namespace radl::openstack

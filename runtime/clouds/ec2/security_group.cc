// Inbound rules: one group per network of the file, and one for logins from this computer.
#include <fmt/format.h>

#include <optional>

#include "common/text.h"
#include "runtime/clouds/ec2/kind.h"
#include "runtime/clouds/ec2/rules.h"

namespace radl::ec2 {
namespace {

// As it is now.
struct Group {
  std::string id, caller;
  std::vector<InboundRule> rules;
  std::optional<std::vector<InboundRule>> outbound;  // nullopt: this server has no such rules
};

class SecurityGroup : public Kind {
 public:
  const char* type() const override { return "security_group"; }
  const char* id_prefix() const override { return "sg-"; }

  Asked create(Call& call, const Order& order) const override {
    auto vpc = find_vpc(call, order.spec.value("vpc", ""));
    if (!vpc.ok()) return Asked::refused(vpc.status());
    auto tags = own_tags(call.context, order);
    const auto rules = rules_wanted(order.spec);
    if (names_this_computer(rules)) {
      auto caller = call.memory.caller([&] { return call.caller(call.context.stop); });
      if (!caller.ok()) return Asked::refused(caller.status());
      tags[kCallerTag] = *caller;
    }
    Parameters parameters = {{"GroupName", name_for(call.context, order)},
                             {"GroupDescription", order.spec.value("description", "made by radlc")},
                             {"VpcId", vpc->id}};
    add_tags(parameters, "security-group", tags);
    Posted posted = call.api.post(call.context, "CreateSecurityGroup", parameters, false);
    if (!posted.accepted()) return posted.asked;
    const std::string id = text_of(posted.root(), "groupId");
    call.memory.note_name(id, order.address);
    return rules.empty() ? Asked::accepted(id) : Asked::accepted_so_far(id);
  }

  // Adds missing rules before it removes obsolete ones, so that permitted clients are never cut off.
  Asked update(Call& call, const Order& order) const override {
    auto now = group(call, order.id);
    if (!now.ok()) return Asked::refused(now.status());
    const auto wanted = rules_wanted(order.spec);
    std::string caller;
    if (names_this_computer(wanted)) {
      auto asked = call.memory.caller([&] { return call.caller(call.context.stop); });
      if (!asked.ok()) return Asked::refused(asked.status());
      caller = *asked;
      if (now->caller != caller) {
        Posted tagged = call.api.post(
            call.context, "CreateTags",
            {{"ResourceId.1", order.id}, {"Tag.1.Key", kCallerTag}, {"Tag.1.Value", caller}}, true);
        if (!tagged.accepted()) return tagged.asked;
      }
    }
    auto changes = rule_changes(now->rules, wanted, order.id, caller);
    if (!changes.ok()) return Asked::refused(changes.status());
    std::vector<InboundRule> too_many;
    for (size_t i : changes->too_many) {
      std::vector<std::string> texts;
      for (const std::string& of : {std::string(), caller, now->caller})
        texts.push_back(rules_shown({now->rules[i]}, order.id, of).front());
      if (may_remove(order, texts)) too_many.push_back(now->rules[i]);
    }
    Asked asked = change(call, order.id, "AuthorizeSecurityGroupIngress", changes->lacking,
                         "InvalidPermission.Duplicate");
    if (asked.answer != Asked::Answer::Accepted) return asked;
    asked = change(call, order.id, "RevokeSecurityGroupIngress", too_many, "InvalidPermission.NotFound");
    if (asked.answer != Asked::Answer::Accepted || !now->outbound) return asked;
    return change_outbound(call, order, *now->outbound);
  }

  Asked destroy(Call& call, const Order& order) const override {
    Posted posted = call.api.post(call.context, "DeleteSecurityGroup", {{"GroupId", order.id}}, true);
    if (posted.code == "DependencyViolation" || posted.code == "InvalidGroup.InUse") {
      const std::string users = users_of(call, order.id);
      if (!users.empty())
        posted.asked.status =
            Status(posted.asked.status.code(), posted.asked.status.message() + ": used by " + users)
                .with_hint(posted.asked.status.hint());
    }
    return std::move(posted.asked);
  }

  Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const override {
    return call.api.each(call.context, "DescribeSecurityGroups", selected(selection, "group-id"),
                         "securityGroupInfo",
                         [&](pugi::xml_node item) { seen.push_back(seen_of(call, item)); });
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"vpc", "a security group stays in its VPC"},
                                     {"name", "a security group keeps its name"},
                                     {"description", "a security group keeps its description"}};
    return replaced_for(kFixed, before, after).value_or(Impact{Impact::Kind::InPlace, ""});
  }

 private:
  // What keeps a group from being deleted: interfaces (of machines, load balancers, endpoints) and rules of
  // other groups. "": that cannot be found out, or nothing does any more.
  static std::string users_of(Call& call, const std::string& id) {
    std::vector<std::string> users;
    (void)call.api.each(call.context, "DescribeNetworkInterfaces",
                        selected({Selection::By::Ids, {id}}, "group-id"), "networkInterfaceSet",
                        [&](pugi::xml_node item) {
                          const std::string machine = text_of(item.child("attachment"), "instanceId"),
                                            what = text_of(item, "description");
                          std::string user = text_of(item, "networkInterfaceId");
                          if (!machine.empty() || !what.empty())
                            user += " (" + (machine.empty() ? what : "of " + machine) + ")";
                          users.push_back(std::move(user));
                        });
    (void)call.api.each(call.context, "DescribeSecurityGroups",
                        selected({Selection::By::Ids, {id}}, "ip-permission.group-id"), "securityGroupInfo",
                        [&](pugi::xml_node item) {
                          if (text_of(item, "groupId") != id)
                            users.push_back("a rule of " + text_of(item, "groupId"));
                        });
    constexpr size_t kNamed = 5;
    const size_t more = users.size() > kNamed ? users.size() - kNamed : 0;
    if (more > 0) users.resize(kNamed);
    return join(users, ", ") + (more > 0 ? fmt::format(", and {} more", more) : "");
  }

  static Group group_of(pugi::xml_node item) {
    Group group{text_of(item, "groupId"), tag_of(tags_of(item), kCallerTag),
                rules_in(item.child("ipPermissions")), std::nullopt};
    if (pugi::xml_node outbound = item.child("ipPermissionsEgress")) group.outbound = rules_in(outbound);
    return group;
  }

  static Asked change_outbound(Call& call, const Order& order, const std::vector<InboundRule>& now) {
    const std::string& id = order.id;
    Asked asked = Asked::accepted(id);
    if (outbound_changes(now).lacking)
      asked = change(call, id, "AuthorizeSecurityGroupEgress", {all_out()}, "InvalidPermission.Duplicate");
    if (asked.answer != Asked::Answer::Accepted) return asked;
    std::vector<InboundRule> too_many;
    for (size_t i : outbound_to_remove(order, now)) too_many.push_back(now[i]);
    return change(call, id, "RevokeSecurityGroupEgress", too_many, "InvalidPermission.NotFound");
  }

  Result<Group> group(Call& call, const std::string& id) const {
    Group found;
    Status asked = call.api.each(call.context, "DescribeSecurityGroups",
                                 selected({Selection::By::Ids, {id}}, "group-id"), "securityGroupInfo",
                                 [&](pugi::xml_node item) { found = group_of(item); });
    if (!asked.ok()) return asked;
    // It was made a moment ago, maybe, and EC2 shows it a little later.
    if (found.id.empty()) return Status(Code::Retry, "security group " + id + " does not show");
    return found;
  }

  // `done_already`: EC2's word for what another request has done.
  static Asked change(Call& call, const std::string& id, const char* action,
                      const std::vector<InboundRule>& rules, const char* done_already) {
    if (rules.empty()) return Asked::accepted(id);
    Parameters parameters = {{"GroupId", id}};
    add_rules(parameters, rules);
    Posted posted = call.api.post(call.context, action, parameters, true);
    if (posted.code == done_already && rules.size() > 1) {
      // A batch fails as a whole if one rule exists, so the rules are sent individually.
      for (const InboundRule& rule : rules) {
        Asked asked = change(call, id, action, {rule}, done_already);
        if (asked.answer != Asked::Answer::Accepted) return asked;
      }
      return Asked::accepted(id);
    }
    if (posted.code == done_already) return Asked::accepted(id);
    if (posted.accepted()) posted.asked.id = id;
    return posted.asked;
  }

  Seen seen_of(Call& call, pugi::xml_node item) const {
    Seen one;
    take_tags(call.context, tags_of(item), one);
    const Group group = group_of(item);
    one.type = type();
    one.id = group.id;
    one.phase = ResourcePhase::Ready;
    call.memory.note_name(one.id, one.address);
    std::string caller = group.caller;
    if (!caller.empty() && !one.address.empty()) {
      auto now = call.memory.caller([&] { return call.caller(call.context.stop); });
      if (now.ok()) caller = *now;
    }
    std::vector<std::string> outbound;
    if (group.outbound) outbound = outbound_changes(*group.outbound).texts(*group.outbound, group.id);
    one.spec = {{"rules", rules_shown(group.rules, group.id, caller, std::move(outbound))}};
    one.attributes = {{"name", text_of(item, "groupName")}, {"vpc_id", text_of(item, "vpcId")}};
    return one;
  }
};

}  // namespace

std::unique_ptr<Kind> make_security_group() { return std::make_unique<SecurityGroup>(); }

}  // namespace radl::ec2

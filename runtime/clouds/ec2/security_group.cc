// What may come in: one group for each network of the file, and one that lets this computer log in.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "runtime/clouds/ec2/kind.h"
#include "runtime/clouds/ec2/rules.h"

namespace radl::ec2 {
namespace {

std::vector<std::string> rules_wanted(const Json& spec) {
  return spec.value("rules", Json::array()).get<std::vector<std::string>>();
}

bool names_this_computer(const std::vector<std::string>& rules) {
  return std::any_of(rules.begin(), rules.end(),
                     [](const std::string& rule) { return rule.ends_with("from this computer"); });
}

// As it is now.
struct Group {
  std::string id, caller;
  std::vector<Rule> rules;
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

  // What lacks is let in first, then what is too much is shut out: nobody who may come in is cut off.
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
    std::vector<Rule> lacking, too_many;
    std::set<std::string> texts, there;
    for (const Rule& rule : now->rules) there.insert(rule.text(order.id));
    for (const std::string& text : wanted) {
      auto rule = parse_rule(text, order.id, caller);
      if (!rule) return Asked::refused(invalid(fmt::format("{}: '{}' is no rule", order.address, text)));
      texts.insert(rule->text(order.id));
      if (!there.count(rule->text(order.id))) lacking.push_back(std::move(*rule));
    }
    for (const Rule& rule : now->rules)
      if (!texts.count(rule.text(order.id))) too_many.push_back(rule);
    Asked asked =
        change(call, order.id, "AuthorizeSecurityGroupIngress", lacking, "InvalidPermission.Duplicate");
    if (asked.answer != Asked::Answer::Accepted) return asked;
    return change(call, order.id, "RevokeSecurityGroupIngress", too_many, "InvalidPermission.NotFound");
  }

  Asked destroy(Call& call, const Order& order) const override {
    return call.api.post(call.context, "DeleteSecurityGroup", {{"GroupId", order.id}}, true).asked;
  }

  Status look(Call& call, const Selection& selection, std::vector<Seen>& seen) const override {
    return call.api.each(call.context, "DescribeSecurityGroups", selected(selection, "group-id"),
                         "securityGroupInfo",
                         [&](pugi::xml_node item) { seen.push_back(seen_of(call, item)); });
  }

  Impact impact(const Json& before, const Json& after) const override {
    if (differs(before, after, "vpc")) return replace("a security group stays in its VPC");
    if (differs(before, after, "name")) return replace("a security group keeps its name");
    if (differs(before, after, "description")) return replace("a security group keeps its description");
    return {Impact::Kind::InPlace, ""};
  }

 private:
  static Group group_of(pugi::xml_node item) {
    return {text_of(item, "groupId"), tag_of(tags_of(item), kCallerTag),
            rules_in(item.child("ipPermissions"))};
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
  static Asked change(Call& call, const std::string& id, const char* action, const std::vector<Rule>& rules,
                      const char* done_already) {
    if (rules.empty()) return Asked::accepted(id);
    Parameters parameters = {{"GroupId", id}};
    add_rules(parameters, rules);
    Posted posted = call.api.post(call.context, action, parameters, true);
    if (posted.code == done_already && rules.size() > 1) {
      // All or nothing: one of them is there. Each for itself.
      for (const Rule& rule : rules) {
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
    std::vector<std::string> rules;
    for (const Rule& rule : group.rules) {
      const bool ours = rule.protocol == "tcp" && rule.from == 22 && rule.to == 22 && !caller.empty() &&
                        rule.cidr == caller;
      rules.push_back(ours ? kSshFromThisComputer : rule.text(group.id));
    }
    std::sort(rules.begin(), rules.end());
    one.spec = {{"rules", rules}};
    one.attributes = {{"name", text_of(item, "groupName")}, {"vpc_id", text_of(item, "vpcId")}};
    return one;
  }
};

}  // namespace

std::unique_ptr<Kind> make_security_group() { return std::make_unique<SecurityGroup>(); }

}  // namespace radl::ec2

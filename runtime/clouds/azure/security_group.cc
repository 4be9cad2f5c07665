// What may come in. A network of the file is an application security group, which its machines' interfaces
// are in; one network security group has the rules of all of them.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "common/digest.h"
#include "common/text.h"
#include "runtime/clouds/azure/kind.h"
#include "runtime/clouds/port_rules.h"
#include "runtime/clouds/shown.h"

namespace radl::azure {
namespace {

constexpr const char* kThisGroup = "this group";
constexpr const char* kDenied = "radlc-deny";
constexpr int kFirstPriority = 100, kLastPriority = 4096;

class Group : public Kind {
 public:
  const char* type() const override { return "group"; }
  const char* collection() const override { return "applicationSecurityGroups"; }

 protected:
  Result<Json> body(Asking&, const Order&) const override { return Json::object(); }
  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    seen.attributes = {{"name", text_of(item, "name")}};
    call.memory.note_name(seen.id, seen.address);
    return {};
  }
};

// One rule of a file as one of Azure's. `group`: the whole id of the group that it is for; "": any machine.
Json rule_body(const InboundRule& rule, const std::string& address, const std::string& group, int priority) {
  const bool ports = rule.from >= 0 && (rule.protocol == "tcp" || rule.protocol == "udp");
  Json properties = {
      {"protocol", rule.protocol == "tcp"    ? "Tcp"
                   : rule.protocol == "udp"  ? "Udp"
                   : rule.protocol == "icmp" ? "Icmp"
                                             : "*"},
      {"sourcePortRange", "*"},
      {"destinationPortRange", !ports                 ? "*"
                               : rule.from == rule.to ? std::to_string(rule.from)
                                                      : fmt::format("{}-{}", rule.from, rule.to)},
      {"access", "Allow"},
      {"direction", "Inbound"},
      {"priority", priority},
      {"description", address}};
  const Json groups = Json::array({{{"id", group}}});
  if (rule.group.empty())
    properties["sourceAddressPrefix"] = rule.cidr;
  else
    properties["sourceApplicationSecurityGroups"] = groups;
  if (group.empty())
    properties["destinationAddressPrefix"] = "*";
  else
    properties["destinationApplicationSecurityGroups"] = groups;
  const std::string name = sha256_hex(address + "\n" + rule.text(kThisGroup)).substr(0, 16);
  return {{"name", "radlc-" + name}, {"properties", std::move(properties)}};
}

Json denied() {
  return {{"name", kDenied},
          {"properties",
           {{"protocol", "*"},
            {"sourcePortRange", "*"},
            {"destinationPortRange", "*"},
            {"sourceAddressPrefix", "VirtualNetwork"},
            {"destinationAddressPrefix", "*"},
            {"access", "Deny"},
            {"direction", "Inbound"},
            {"priority", kLastPriority},
            {"description", "machines reach only those of their own networks"}}}};
}

// As it was written, whatever Azure adds.
bool is_denied(const Json& rule) {
  const Json wanted = denied(), &properties = member(rule, "properties");
  return text_of(rule, "name") == kDenied &&
         std::all_of(wanted["properties"].items().begin(), wanted["properties"].items().end(),
                     [&](const auto& field) {
                       return field.key() == "description" ||
                              member(properties, field.key()) == field.value();
                     });
}

int number_in(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Sources of a rule, written as one or as a list.
std::vector<std::string> texts(const Json& properties, const char* one, const char* many) {
  std::vector<std::string> found;
  if (std::string text = text_of(properties, one); !text.empty()) found.push_back(std::move(text));
  for (const Json& item : list_of(properties, many))
    if (item.is_string()) found.push_back(item.get<std::string>());
  return found;
}

// The address of a group that a rule is to name `wanted`; one that is not of this infrastructure keeps its
// id. An import asks for the rules alone: of ours it knows no addresses.
std::string name_of_group(Asking& call, const Json& group, const std::string& wanted) {
  const std::string id = id_in(text_of(group, "id"));
  if (auto name = call.memory.name_of(id)) return *name;
  return id.starts_with(group_id(call.context, call.cloud) + "/") ? wanted : id;
}

// What of a rule of ours somebody changed that a rule's text does not show: where it leads, and the port that
// it comes from. "": nothing.
std::string changed_beside(Asking& call, const Json& properties, const std::string& group) {
  std::vector<std::string> to = texts(properties, "destinationAddressPrefix", "destinationAddressPrefixes");
  for (const Json& one : list_of(properties, "destinationApplicationSecurityGroups"))
    to.push_back(name_of_group(call, one, group));
  std::string changed;
  if (to != std::vector<std::string>{group.empty() ? "*" : group}) changed += " for " + join(to, ", ");
  const auto ports = texts(properties, "sourcePortRange", "sourcePortRanges");
  if (ports != std::vector<std::string>{"*"}) changed += " from port " + join(ports, ", ");
  return changed;
}

std::vector<InboundRule> rules_of(Asking& call, const Json& properties, const std::string& group) {
  std::vector<InboundRule> rules;
  InboundRule rule;
  const std::string protocol = text_of(properties, "protocol");
  rule.protocol = protocol == "Tcp" ? "tcp" : protocol == "Udp" ? "udp" : protocol == "Icmp" ? "icmp" : "all";
  for (const std::string& ports : texts(properties, "destinationPortRange", "destinationPortRanges")) {
    const size_t dash = ports.find('-');
    rule.from = rule.to = -1;
    if (ports != "*") {
      rule.from = number_in(std::string_view(ports).substr(0, dash));
      rule.to = dash == ports.npos ? rule.from : number_in(std::string_view(ports).substr(dash + 1));
    }
    rule.group.clear();
    for (std::string& source : texts(properties, "sourceAddressPrefix", "sourceAddressPrefixes")) {
      rule.cidr = source == "*" || source == "Internet" ? "0.0.0.0/0" : std::move(source);
      rules.push_back(rule);
    }
    rule.cidr.clear();
    for (const Json& one : list_of(properties, "sourceApplicationSecurityGroups")) {
      const std::string source = name_of_group(call, one, group);
      rule.group = source == group ? kThisGroup : source;
      rules.push_back(rule);
    }
  }
  return rules;
}

class SecurityGroup : public Kind {
 public:
  const char* type() const override { return "security_group"; }
  const char* collection() const override { return "networkSecurityGroups"; }
  Asked update(Asking& call, const Order& order) const override {
    if (Status shown = check_shown(call, order); !shown.ok()) return Asked::refused(std::move(shown));
    return put_again(call, order);
  }
  Impact impact(const Json&, const Json&) const override { return {Impact::Kind::InPlace, ""}; }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    Json rules = Json::array();
    int priority = kFirstPriority;
    const Json wanted = order.spec.value("rules", Json::object());
    for (const auto& [address, given] : wanted.items()) {
      std::string group, caller;
      if (!address.empty()) {
        auto id = id_of_reference(order, address);
        if (!id.ok()) return id.status();
        group = call.full(*id);
        call.memory.note_name(*id, address);
      }
      const auto listed = given.get<std::vector<std::string>>();
      if (names_this_computer(listed)) {
        auto asked = call.memory.caller([&] { return call.caller(call.context.stop); });
        if (!asked.ok()) return asked.status();
        caller = *asked;
      }
      for (const std::string& text : listed) {
        auto rule = parse_rule(text, kThisGroup, caller);
        if (!rule) return invalid(fmt::format("{}: '{}' is not a rule", order.address, text));
        if (priority >= kLastPriority) return invalid(order.address + ": Azure takes at most 1000 rules");
        rules.push_back(rule_body(*rule, address, group, priority++));
      }
    }
    rules.push_back(denied());
    return Json{{"properties", {{"securityRules", std::move(rules)}}}};
  }

  Status fill(Asking& call, const Json& item, Seen& seen) const override {
    std::map<std::string, std::vector<InboundRule>> by_group;
    bool closed = false;
    std::vector<std::string> others;  // that refuse something, or are for what goes out
    for (const Json& one : list_of(member(item, "properties"), "securityRules")) {
      const Json& properties = member(one, "properties");
      if (is_denied(one)) {
        closed = true;
        continue;
      }
      const std::string access = text_of(properties, "access"), direction = text_of(properties, "direction");
      if (access != "Allow" || direction != "Inbound") {
        others.push_back(to_lower(fmt::format("{} {} rule {}", access, direction, text_of(one, "name"))));
        continue;
      }
      // A rule of another creator has no group's address: it is shown by what it allows.
      const std::string group = text_of(properties, "description");
      if (const std::string changed = changed_beside(call, properties, group); !changed.empty()) {
        others.push_back(fmt::format("rule {}{}", text_of(one, "name"), changed));
        continue;
      }
      for (InboundRule& rule : rules_of(call, properties, group)) by_group[group].push_back(std::move(rule));
    }
    std::string caller;
    auto now = call.memory.caller([&] { return call.caller(call.context.stop); });
    if (now.ok()) caller = *now;
    Json shown = Json::object();
    for (const auto& [group, rules] : by_group)
      shown[group] = rules_shown(rules, kThisGroup, group.empty() ? caller : "");
    if (!closed) shown["open between networks"] = Json::array();
    for (const std::string& other : others) shown[other] = Json::array();
    call.memory.note_name(seen.id, seen.address);
    seen.spec = {{"rules", std::move(shown)}};
    seen.attributes = {{"name", text_of(item, "name")}};
    return {};
  }

 private:
  // The request replaces all rules. Conflict: one would go that the plan has not shown, as it came later.
  Status check_shown(Asking& call, const Order& order) const {
    if (!shown_before(order, "rules")) return {};
    auto now = read(call, order.id, version());
    if (!now.ok()) return now.status();
    Seen seen;
    seen.id = order.id;
    seen.address = order.address;
    if (Status filled = fill(call, *now, seen); !filled.ok()) return filled;
    const Json wanted = order.spec.value("rules", Json::object());
    for (const auto& [group, texts] : seen.spec["rules"].items()) {
      const Json before = shown_before(order, "rules." + group).value_or(Json());
      const Json asked = wanted.value(group, Json::array());
      if (texts.empty() && before.is_null()) return came_later(order, group);
      for (const Json& text : texts) {
        const bool known = std::find(before.begin(), before.end(), text) != before.end() ||
                           std::find(asked.begin(), asked.end(), text) != asked.end();
        if (!known) return came_later(order, text.get<std::string>());
      }
    }
    return {};
  }
  static Status came_later(const Order& order, const std::string& rule) {
    return Status(Code::Conflict, order.address + ": a rule came after the plan: " + rule)
        .with_hint("run the command again: its plan shows the rule");
  }
};

}  // namespace

std::unique_ptr<Kind> make_group() { return std::make_unique<Group>(); }
std::unique_ptr<Kind> make_security_group() { return std::make_unique<SecurityGroup>(); }

}  // namespace radl::azure

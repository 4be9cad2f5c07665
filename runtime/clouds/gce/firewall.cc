// What may come in. A firewall rule of Compute Engine has one set of sources for all of its ports; so each
// network of the file has one for its own machines, and one for each source that its ports name.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/clouds/gce/kind.h"
#include "runtime/clouds/port_rules.h"

namespace radl::gce {
namespace {

constexpr const char* kThisGroup = "this group";

Json allowed_of(const std::vector<InboundRule>& rules) {
  Json allowed = Json::array();
  for (const InboundRule& rule : rules) {
    Json one = {{"IPProtocol", rule.protocol}};
    if (rule.from >= 0 && (rule.protocol == "tcp" || rule.protocol == "udp"))
      one["ports"] = {rule.from == rule.to ? std::to_string(rule.from)
                                           : fmt::format("{}-{}", rule.from, rule.to)};
    allowed.push_back(std::move(one));
  }
  return allowed;
}

// The default priority of a rule.
constexpr int kUsualPriority = 1000;
int priority_of(const Json& item) { return static_cast<int>(number_of(item, "priority", kUsualPriority)); }

// The tag of the machines that a rule is for; "": it is for all of the network, or for several groups.
std::string target_of(const Json& item) {
  const Json& targets = list_of(item, "targetTags");
  return targets.size() == 1 && targets[0].is_string() ? targets[0].get<std::string>() : "";
}

// A spec's allowed ports and sources. Invalid: they do not fit one rule.
Result<Json> inbound(Asking& call, const Json& spec) {
  const auto texts = rules_wanted(spec);
  std::string caller;
  if (names_this_computer(texts)) {
    auto asked = call.memory.caller([&] { return call.caller(call.context.stop); });
    if (!asked.ok()) return asked.status();
    caller = *asked;
  }
  const std::string tag = tag_of(call.context, call.cloud, spec.value("group", ""));
  std::vector<InboundRule> rules;
  std::set<std::string> sources;
  for (const std::string& text : texts) {
    auto rule = parse_rule(text, kThisGroup, caller);
    if (!rule) return invalid(fmt::format("'{}' is not a rule", text));
    sources.insert(rule->group.empty() ? rule->cidr : rule->group);
    rules.push_back(std::move(*rule));
  }
  if (sources.size() != 1) return invalid("the rules of one firewall have one source");
  Json body = {{"allowed", allowed_of(rules)}, {"targetTags", {tag}}};
  if (*sources.begin() == kThisGroup)
    body["sourceTags"] = {tag};
  else
    body["sourceRanges"] = {*sources.begin()};
  return body;
}

int number_in(std::string_view text) {
  int number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::vector<InboundRule> rules_of(const Json& item, const std::string& tag) {
  std::vector<InboundRule> rules;
  auto add = [&](InboundRule rule) {
    for (const Json& range : list_of(item, "sourceRanges")) {
      rule.cidr = range.is_string() ? range.get<std::string>() : "";
      rules.push_back(rule);
    }
    rule.cidr.clear();
    for (const Json& source : list_of(item, "sourceTags")) {
      rule.group = source == tag ? kThisGroup : source.is_string() ? source.get<std::string>() : "";
      rules.push_back(rule);
    }
  };
  for (const Json& allowed : list_of(item, "allowed")) {
    InboundRule rule;
    rule.protocol = text_of(allowed, "IPProtocol");
    const Json& ports = list_of(allowed, "ports");
    if (ports.empty()) add(rule);
    for (const Json& port : ports) {
      const std::string text = port.is_string() ? port.get<std::string>() : "";
      const size_t dash = text.find('-');
      rule.from = number_in(std::string_view(text).substr(0, dash));
      rule.to = dash == text.npos ? rule.from : number_in(std::string_view(text).substr(dash + 1));
      add(rule);
    }
  }
  return rules;
}

// In no order: the API need not keep one.
std::set<std::string> texts_of(const Json& item, const std::string& tag) {
  std::set<std::string> texts;
  for (const InboundRule& rule : rules_of(item, tag)) texts.insert(rule.text(kThisGroup));
  return texts;
}

class Firewall : public Kind {
 public:
  const char* type() const override { return "firewall"; }
  const char* collection() const override { return "firewalls"; }
  Scope scope() const override { return Scope::Global; }

  Asked update(Asking& call, const Order& order) const override {
    if (auto earlier = earlier_change(call, order)) return std::move(*earlier);
    auto wanted = inbound(call, order.spec);
    if (!wanted.ok()) return Asked::refused(wanted.status());
    auto now = read(call, order.id);
    if (!now.ok()) return Asked::refused(now.status());
    for (const char* list : {"sourceTags", "sourceRanges"})
      if (!wanted->contains(list) && !list_of(*now, list).empty()) (*wanted)[list] = Json::array();
    const std::string tag = (*wanted)["targetTags"][0];
    const bool of_others =
        !order.token.empty() && text_of(*now, "description") != to_line(call.context, order);
    const bool same = !flag_of(*now, "disabled") && texts_of(*now, tag) == texts_of(*wanted, tag) &&
                      list_of(*now, "targetTags") == (*wanted)["targetTags"] &&
                      priority_of(*now) == kUsualPriority && !of_others;
    if (same) return Asked::accepted(order.id);
    if (flag_of(*now, "disabled")) (*wanted)["disabled"] = false;
    if (priority_of(*now) != kUsualPriority) (*wanted)["priority"] = kUsualPriority;
    if (of_others) (*wanted)["description"] = to_line(call.context, order);
    (*wanted)["name"] = text_of(*now, "name");  // its description says that a patch has it
    return change(call, order, "", std::move(*wanted), "PATCH");
  }

  Json marks(const Context& context, const Order& order) const override {
    return {{"description", to_line(context, order)}};
  }

  Impact impact(const Json& before, const Json& after) const override {
    constexpr FixedField kFixed[] = {{"network", "a firewall rule stays in its network"},
                                     {"group", "a firewall rule is for the machines of one network"}};
    if (auto fixed = replaced_for(kFixed, before, after)) return *fixed;
    return {Impact::Kind::InPlace, ""};
  }

 protected:
  Result<Json> body(Asking& call, const Order& order) const override {
    auto network = network_path(call, order, order.spec.value("network", Json::object()));
    if (!network.ok()) return network.status();
    auto body = inbound(call, order.spec);
    if (!body.ok()) return body;
    (*body)["network"] = *network;
    (*body)["direction"] = "INGRESS";
    note_group(call, order.spec.value("group", ""));
    return body;
  }

  bool fill(Asking& call, const Json& item, Seen& seen) const override {
    const std::string tag = target_of(item);
    const std::string address = call.memory.name_of(seen.id).value_or(seen.address);
    const bool ours = note_group_of(call, address, tag);
    seen.marks = {{"description", text_of(item, "description")}};
    const auto rules = rules_of(item, tag);
    std::string caller;
    if (address.starts_with("access.")) {
      auto now = call.memory.caller([&] { return call.caller(call.context.stop); });
      if (now.ok()) caller = *now;
    }
    std::vector<std::string> others;
    if (!address.empty() && !ours)
      others.push_back("for " + (tag.empty() ? "all machines" : "machines of " + tag));
    if (priority_of(item) != kUsualPriority)
      others.push_back(fmt::format("with priority {}", priority_of(item)));
    // A disabled rule allows nothing.
    if (flag_of(item, "disabled"))
      seen.spec = {{"rules", Json::array()}};
    else
      seen.spec = {{"rules", rules_shown(rules, kThisGroup, caller, std::move(others))}};
    seen.attributes = {{"name", text_of(item, "name")}};
    return true;
  }

 private:
  static void note_group(Asking& call, const std::string& group) {
    call.memory.note_name(tag_of(call.context, call.cloud, group), group);
  }
  // A rule's address is its group's, or begins with it: what comes after it is the network or the source. The
  // ports of "network.lan" are "ports.lan.0". False: the rule is for other machines.
  static bool note_group_of(Asking& call, std::string address, const std::string& tag) {
    if (address.starts_with("ports.")) address = "network" + address.substr(5);
    for (size_t end = address.size(); end != address.npos && end > 0; end = address.rfind('.', end - 1)) {
      const std::string group = address.substr(0, end);
      if (tag_of(call.context, call.cloud, group) != tag) continue;
      call.memory.note_name(tag, group);
      return true;
    }
    return false;
  }
};

}  // namespace

std::unique_ptr<Kind> make_firewall() { return std::make_unique<Firewall>(); }

}  // namespace radl::gce

#include "runtime/clouds/azure/admin_rules.h"

#include <fmt/format.h>

#include <vector>

#include "common/text.h"
#include "runtime/clouds/rules_of_others.h"

namespace radl::azure {
namespace {

// "security admin rule no-ssh denies tcp 22 from 0.0.0.0/0". One that allows leaves the decision to the
// groups; one that always allows does not.
std::string text_of_rule(const Json& item) {
  static const std::map<std::string, std::string> kVerbs = {
      {"Allow", "allows"}, {"Deny", "denies"}, {"AlwaysAllow", "always allows"}};
  const Json& properties = member(item, "properties");
  const auto verb = kVerbs.find(text_of(properties, "access"));
  const bool out = text_of(properties, "direction") == "Outbound";
  const std::string protocol = text_of(properties, "protocol");
  std::vector<std::string> ends, ports;
  for (const Json& one : list_of(properties, out ? "destinations" : "sources"))
    ends.push_back(text_of(one, "addressPrefix"));
  for (const Json& one : list_of(properties, "destinationPortRanges"))
    if (one.is_string() && one != "*" && one != "0-65535") ports.push_back(one.get<std::string>());
  const std::string other = join(ends, ", ");
  return fmt::format("security admin rule {} {} {}{} {} {}", last_part(text_of(item, "id")),
                     verb == kVerbs.end() ? text_of(properties, "access") : verb->second,
                     protocol == "Any" || protocol.empty() ? "all" : to_lower(protocol),
                     ports.empty() ? "" : " " + join(ports, ","), out ? "to" : "from",
                     other.empty() || other == "*" ? "0.0.0.0/0" : other);
}

// Page by page: each request has the token of the previous page.
Result<std::vector<std::string>> effective_rules(Asking& call, const std::string& network) {
  std::vector<std::string> texts;
  Json body = Json::object();
  while (true) {
    Answer answer =
        call.manager.call({.method = "POST",
                           .path = network.substr(1) + "/listNetworkManagerEffectiveSecurityAdminRules",
                           .version = kNetwork,
                           .query = {},
                           .body = body,
                           .headers = {}},
                          waits(call.context));
    if (!answer.ok()) return answer.failure().status;
    const Json page = answer.json();
    for (const Json& item : list_of(page, "value")) texts.push_back(text_of_rule(item));
    const std::string next = text_of(page, "skipToken");
    if (next.empty()) return texts;
    if (next == text_of(body, "skipToken"))
      return Status(Code::Corrupt,
                    "the pages of the security admin rules of " + network + " go round in a circle");
    body["skipToken"] = next;
  }
}

}  // namespace

Status add_admin_rules(Asking& call, std::map<std::string, Seen>& found) {
  std::map<std::string, std::vector<Seen*>> machines;  // by network
  for (const auto& [id, network] : call.networks) {
    auto seen = found.find(id);
    if (!network.empty() && seen != found.end()) machines[network].push_back(&seen->second);
  }
  for (const auto& [network, inside] : machines) {
    const std::string where = fmt::format(" (virtual network {})", last_part(network));
    auto rules = effective_rules(call, network);
    if (!rules.ok() && !may_stay_unknown(rules.status())) return rules.status();
    const std::vector<std::string> texts =
        rules.ok()
            ? *rules
            : std::vector<std::string>{"the security admin rules are unknown: " + rules.status().message()};
    for (Seen* machine : inside)
      for (const std::string& text : texts) add_rule_of_others(*machine, text + where);
  }
  return {};
}

}  // namespace radl::azure

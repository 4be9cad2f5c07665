#include "runtime/clouds/gce/foreign_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/text.h"
#include "runtime/clouds/rules_of_others.h"

namespace radl::gce {
namespace {

std::vector<std::string> texts_in(const Json& item, const char* list) {
  std::vector<std::string> texts;
  for (const Json& one : list_of(item, list))
    if (one.is_string()) texts.push_back(one.get<std::string>());
  return texts;
}

// `protocol`: the name of the field that has it.
std::string traffic_of(const Json& item, const char* list, const char* protocol) {
  std::vector<std::string> parts;
  for (const Json& one : list_of(item, list)) {
    const std::string ports = join(texts_in(one, "ports"), ",");
    parts.push_back(text_of(one, protocol) + (ports.empty() ? "" : " " + ports));
  }
  return join(parts, " and ");
}

std::string text_of_rule(const Json& item) {
  const bool out = text_of(item, "direction") == "EGRESS", denies = !list_of(item, "denied").empty();
  std::vector<std::string> others;
  for (const char* list : {"sourceRanges", "sourceTags", "sourceServiceAccounts", "destinationRanges"})
    for (std::string& text : texts_in(item, list)) others.push_back(std::move(text));
  return fmt::format("{} {} {} {} {}", text_of(item, "name"), denies ? "denies" : "allows",
                     traffic_of(item, denies ? "denied" : "allowed", "IPProtocol"), out ? "to" : "from",
                     others.empty() ? "0.0.0.0/0" : join(others, ", "));
}

bool have_common(const std::vector<std::string>& some, const std::vector<std::string>& others) {
  return std::any_of(some.begin(), some.end(), [&](const std::string& one) {
    return std::find(others.begin(), others.end(), one) != others.end();
  });
}

// "p" of "projects/p/global/networks/n".
std::string project_in(const std::string& path) {
  const auto parts = split(path, '/');
  return parts.size() > 1 ? std::string(parts[1]) : "";
}

// Networks that machines are in, but for those in `made` -> the machines' ids.
using Machines = std::map<std::string, std::vector<std::string>>;

Machines in_networks_but(const Asking& call, const std::set<std::string>& made) {
  Machines machines;
  for (const auto& [id, machine] : call.machines)
    for (const std::string& network : machine.networks)
      if (!project_in(network).empty() && !made.count(network)) machines[network].push_back(id);
  return machines;
}

void add_text(std::map<std::string, Seen>& found, const std::string& machine, std::string text) {
  auto seen = found.find(machine);
  if (seen != found.end()) add_rule_of_others(seen->second, std::move(text));
}

// This account may not see the rules, as of a network that another project shares.
Status note_unreadable(const Status& why, const std::string& project, const Machines& machines,
                       std::map<std::string, Seen>& found) {
  if (!may_stay_unknown(why)) return why;
  for (const auto& [network, ids] : machines)
    for (const std::string& id : ids)
      if (project_in(network) == project)
        add_text(found, id,
                 fmt::format("the rules of {} are unknown: {} (compute.firewalls.list in {})", network,
                             why.message(), project));
  return {};
}

std::string kind_of_policy(const std::string& type) {
  if (type == "HIERARCHY") return "hierarchical firewall policy";
  if (type == "NETWORK") return "global network firewall policy";
  if (type == "NETWORK_REGIONAL") return "regional network firewall policy";
  return "firewall policy of Google";  // SYSTEM_GLOBAL, SYSTEM_REGIONAL
}

std::vector<std::string> secure_tags_in(const Json& item, const std::string& list) {
  std::vector<std::string> tags;
  for (const Json& one : list_of(item, list))
    if (text_of(one, "state") != "INEFFECTIVE") tags.push_back(text_of(one, "name"));
  return tags;
}

// The other end of a connection, in the words of a policy: addresses, countries, names, groups and tags.
std::string ends_of(const Json& match, const std::string& side) {
  std::vector<std::string> ends;
  for (const char* what : {"IpRanges", "RegionCodes", "Fqdns", "AddressGroups", "ThreatIntelligences"})
    for (std::string& text : texts_in(match, (side + what).c_str())) ends.push_back(std::move(text));
  for (const std::string& tag : secure_tags_in(match, side + "SecureTags"))
    ends.push_back("machines with the secure tag " + tag);
  return ends.empty() ? "0.0.0.0/0" : join(ends, ", ");
}

// "no-ssh rule 1000 denies tcp 22 from 0.0.0.0/0 (hierarchical firewall policy)"; "": it decides nothing.
std::string text_of_policy_rule(const Json& policy, const Json& rule) {
  static const std::map<std::string, std::string> kVerbs = {
      {"allow", "allows"}, {"deny", "denies"}, {"apply_security_profile_group", "inspects"}};
  const auto verb = kVerbs.find(text_of(rule, "action"));
  if (verb == kVerbs.end() || flag_of(rule, "disabled")) return "";
  const bool out = text_of(rule, "direction") == "EGRESS";
  const Json& match = member(rule, "match");
  std::string name = text_of(policy, "displayName");
  if (name.empty()) name = text_of(policy, "name");
  const std::string traffic = traffic_of(match, "layer4Configs", "ipProtocol");
  std::string text = fmt::format(
      "{} rule {} {} {} {} {}", name, static_cast<int64_t>(number_of(rule, "priority")), verb->second,
      traffic.empty() ? "all" : traffic, out ? "to" : "from", ends_of(match, out ? "dest" : "src"));
  const std::vector<std::string> tags = secure_tags_in(rule, "targetSecureTags");
  if (!tags.empty()) text += " for machines with the secure tag " + join(tags, ", ");
  return text + " (" + kind_of_policy(text_of(policy, "type")) + ")";
}

// Of secure tags, which machines carry is not known here: the text names them.
bool policy_rule_is_for(const Json& rule, const std::string& network, const Exposed& machine) {
  std::vector<std::string> networks;
  for (const std::string& url : texts_in(rule, "targetResources")) networks.push_back(project_path_of(url));
  if (!networks.empty() && !have_common(networks, {network})) return false;
  const std::vector<std::string> accounts = texts_in(rule, "targetServiceAccounts");
  return accounts.empty() || have_common(accounts, machine.accounts);
}

}  // namespace

bool ForeignRule::applies_to(const Exposed& machine) const {
  if (tags.empty() && accounts.empty()) return true;
  return have_common(tags, machine.tags) || have_common(accounts, machine.accounts);
}

Result<std::vector<ForeignRule>> foreign_rules(Asking& call, const std::string& project) {
  std::vector<ForeignRule> rules;
  const std::string prefix = name_prefix(call.context, call.cloud);
  Status asked = call.service.each(
      fmt::format("projects/{}/global/firewalls", project), google::Scopes{}, {}, waits(call.context),
      [&](const Json& item) {
        const std::string id = partial_of(text_of(item, "selfLink"));
        const bool ours = mark_in(item).ours(call.context) || text_of(item, "name").starts_with(prefix) ||
                          call.memory.name_of(id).has_value();
        if (ours || flag_of(item, "disabled")) return;
        rules.push_back({id, project_path_of(text_of(item, "network")), text_of_rule(item),
                         texts_in(item, "targetTags"), texts_in(item, "targetServiceAccounts")});
      });
  if (!asked.ok()) return asked;
  std::sort(rules.begin(), rules.end(),
            [](const ForeignRule& a, const ForeignRule& b) { return a.text < b.text; });
  return rules;
}

Status add_foreign_rules(Asking& call, std::map<std::string, Seen>& found) {
  std::set<std::string> made, projects;
  for (const auto& [id, seen] : found)
    if (seen.type == "network" && !seen.token.empty()) made.insert(call.root() + id);
  if (!made.empty()) projects.insert(call.project);
  const Machines machines = in_networks_but(call, made);
  for (const auto& [network, ids] : machines) projects.insert(project_in(network));
  for (const std::string& project : projects) {
    auto rules = foreign_rules(call, project);
    if (!rules.ok()) {
      const bool is_needed = project == call.project && !made.empty();
      Status noted = is_needed ? rules.status() : note_unreadable(rules.status(), project, machines, found);
      if (!noted.ok()) return noted;
      continue;
    }
    for (const ForeignRule& rule : *rules) {
      if (made.count(rule.network))
        found.at(partial_of(rule.network)).spec[kForeignRules].push_back(rule.text);
      auto inside = machines.find(rule.network);
      if (inside == machines.end()) continue;
      for (const std::string& id : inside->second)
        if (rule.applies_to(call.machines.at(id)))
          add_text(found, id, fmt::format("{} (network {})", rule.text, last_part(rule.network)));
    }
  }
  return {};
}

Status add_policy_rules(Asking& call, std::map<std::string, Seen>& found) {
  for (const auto& [network, ids] : in_networks_but(call, {})) {
    const std::string project = project_in(network);
    google::Answer answer = call.service.call(
        {.method = "GET",
         .path = fmt::format("projects/{}/regions/{}/firewallPolicies/getEffectiveFirewalls", project,
                             call.cloud.region),
         .query = {{"network", "https://www.googleapis.com/compute/v1/" + network}},
         .body = nullptr},
        waits(call.context));
    if (!answer.ok()) {
      const Status& why = answer.failure().status;
      if (!may_stay_unknown(why)) return why;
      for (const std::string& id : ids)
        add_text(found, id,
                 fmt::format("the firewall policies of {} are unknown: {} "
                             "(compute.networks.getRegionEffectiveFirewalls in {})",
                             network, why.message(), project));
      continue;
    }
    const Json effective = answer.json();
    for (const Json& policy : list_of(effective, "firewallPolicys")) {
      for (const Json& rule : list_of(policy, "rules")) {
        const std::string text = text_of_policy_rule(policy, rule);
        for (const std::string& id : ids)
          if (!text.empty() && policy_rule_is_for(rule, network, call.machines.at(id)))
            add_text(found, id, text);
      }
    }
  }
  return {};
}

}  // namespace radl::gce

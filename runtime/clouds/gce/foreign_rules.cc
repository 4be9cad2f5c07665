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

std::string traffic_of(const Json& item, const char* list) {
  std::vector<std::string> parts;
  for (const Json& one : list_of(item, list)) {
    const std::string ports = join(texts_in(one, "ports"), ",");
    parts.push_back(text_of(one, "IPProtocol") + (ports.empty() ? "" : " " + ports));
  }
  return join(parts, " and ");
}

std::string text_of_rule(const Json& item) {
  const bool out = text_of(item, "direction") == "EGRESS", denies = !list_of(item, "denied").empty();
  std::vector<std::string> others;
  for (const char* list : {"sourceRanges", "sourceTags", "sourceServiceAccounts", "destinationRanges"})
    for (std::string& text : texts_in(item, list)) others.push_back(std::move(text));
  return fmt::format("{} {} {} {} {}", text_of(item, "name"), denies ? "denies" : "allows",
                     traffic_of(item, denies ? "denied" : "allowed"), out ? "to" : "from",
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

// Networks that machines are in and that radlc did not create -> the machines' ids.
using Machines = std::map<std::string, std::vector<std::string>>;

Machines in_networks_of_others(const Asking& call, const std::set<std::string>& made) {
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
  if (why.code() != Code::Auth && why.code() != Code::NotFound) return why;
  for (const auto& [network, ids] : machines)
    for (const std::string& id : ids)
      if (project_in(network) == project)
        add_text(found, id,
                 fmt::format("the rules of {} are unknown: {} (compute.firewalls.list in {})", network,
                             why.message(), project));
  return {};
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
  const Machines machines = in_networks_of_others(call, made);
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

}  // namespace radl::gce

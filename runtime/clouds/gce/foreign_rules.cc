#include "runtime/clouds/gce/foreign_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"

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

}  // namespace

Result<std::vector<ForeignRule>> foreign_rules(Asking& call) {
  std::vector<ForeignRule> rules;
  const std::string prefix = name_prefix(call.context, call.cloud);
  Status asked = call.service.each(
      call.root() + "global/firewalls", google::Scopes{}, {}, waits(call.context), [&](const Json& item) {
        const std::string id = partial_of(text_of(item, "selfLink"));
        const bool ours = mark_in(item).ours(call.context) || text_of(item, "name").starts_with(prefix) ||
                          call.memory.name_of(id).has_value();
        if (ours || flag_of(item, "disabled")) return;
        rules.push_back({id, partial_of(text_of(item, "network")), text_of_rule(item)});
      });
  if (!asked.ok()) return asked;
  std::sort(rules.begin(), rules.end(),
            [](const ForeignRule& a, const ForeignRule& b) { return a.text < b.text; });
  return rules;
}

Status add_foreign_rules(Asking& call, std::map<std::string, Seen>& found) {
  const bool any = std::any_of(found.begin(), found.end(),
                               [](const auto& entry) { return entry.second.type == "network"; });
  if (!any) return {};
  auto rules = foreign_rules(call);
  if (!rules.ok()) return rules.status();
  for (const ForeignRule& rule : *rules) {
    auto network = found.find(rule.network);
    if (network == found.end()) continue;
    Seen& seen = network->second;
    (seen.token.empty() ? seen.attributes : seen.spec)[kForeignRules].push_back(rule.text);
  }
  return {};
}

}  // namespace radl::gce

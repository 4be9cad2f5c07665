#include "runtime/exec/failures.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/text.h"
#include "runtime/plan/ordinals.h"

namespace radl {
namespace {

struct Cause {
  Status status;  // without a name
  std::string log;
  std::vector<std::string> ids;
};

// The message without the name in front of it; nullopt: it does not begin with one, or names it further on.
std::optional<std::string> bare(const Status& told, const std::string& id) {
  const std::string& message = told.message();
  if (!message.starts_with(id + ": ")) return std::nullopt;
  std::string rest = message.substr(id.size() + 2);
  return rest.find(id) == rest.npos ? std::optional(std::move(rest)) : std::nullopt;
}

// "key.openstack, worker[0..3]": in their order, those that differ in their ordinal alone as one.
std::string names_of(const std::vector<std::string>& ids) {
  std::vector<std::string> names;
  std::map<std::pair<std::string, std::string>, std::pair<size_t, std::vector<int>>> folded;
  for (const std::string& id : ids) {
    std::string prefix, suffix;
    int ordinal = 0;
    if (!split_ordinal(id, prefix, ordinal, suffix)) {
      names.push_back(id);
      continue;
    }
    auto [group, is_new] = folded.try_emplace({prefix, suffix}, names.size(), std::vector<int>());
    group->second.second.push_back(ordinal);
    if (is_new) names.emplace_back();
  }
  for (const auto& [parts, group] : folded)
    names[group.first] = parts.first + "[" + ranges(group.second) + "]" + parts.second;
  return join(names, ", ");
}

}  // namespace

std::vector<Failure> failures_told(const std::vector<ActionOutcome>& actions) {
  std::vector<Cause> causes;
  for (const ActionOutcome& outcome : actions) {
    if (outcome.state != ActionOutcome::State::Failed) continue;
    const Status told = outcome.told();
    const auto message = outcome.log.empty() ? bare(told, outcome.id) : std::nullopt;
    if (!message) {
      causes.push_back({told, outcome.log, {}});
      continue;
    }
    auto same = std::find_if(causes.begin(), causes.end(), [&](const Cause& one) {
      return !one.ids.empty() && one.status.message() == *message && one.status.hint() == told.hint();
    });
    if (same == causes.end())
      same = causes.insert(same, {Status(told.code(), *message).with_hint(told.hint()), "", {}});
    same->ids.push_back(outcome.id);
  }
  std::vector<Failure> failures;
  for (Cause& one : causes)
    failures.push_back({one.ids.empty() ? std::move(one.status) : std::move(one.status).at(names_of(one.ids)),
                        std::move(one.log)});
  return failures;
}

}  // namespace radl

#include "runtime/exec/failures.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

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
    failures.push_back(
        {one.ids.empty() ? std::move(one.status) : std::move(one.status).at(names_together(one.ids)),
         std::move(one.log)});
  return failures;
}

std::vector<std::string> leftovers_told(const RunReport& report) {
  std::set<std::string> said;
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state == ActionOutcome::State::Failed) said.insert(leftover_of(outcome));
  }
  std::vector<std::string> lines, names;
  for (const std::string& leftover : report.leftovers) {
    if (!said.count(leftover)) lines.push_back(leftover);
  }
  if (lines.size() == report.leftovers.size()) return lines;
  for (const ActionOutcome& outcome : report.actions) {
    if (outcome.state != ActionOutcome::State::Done) names.push_back(outcome.id);
  }
  lines.push_back(names_together(names));
  return lines;
}

std::string leftover_of(const ActionOutcome& outcome) {
  return outcome.id + ": " + outcome.status.message() + outcome.detail;
}

}  // namespace radl

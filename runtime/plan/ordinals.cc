#include "runtime/plan/ordinals.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace radl {

bool split_ordinal(const std::string& id, std::string& prefix, int& ordinal, std::string& suffix) {
  size_t open = id.find('['), close = id.find(']');
  if (open == std::string::npos || close == std::string::npos || close < open + 2) return false;
  std::string digits = id.substr(open + 1, close - open - 1);
  if (digits.size() > 9 || digits.find_first_not_of("0123456789") != std::string::npos) return false;
  prefix = id.substr(0, open);
  ordinal = std::stoi(digits);
  suffix = id.substr(close + 1);
  return true;
}

std::string ranges(std::vector<int> ordinals) {
  std::sort(ordinals.begin(), ordinals.end());
  std::string text;
  for (size_t i = 0; i < ordinals.size();) {
    size_t end = i;
    while (end + 1 < ordinals.size() && ordinals[end + 1] == ordinals[end] + 1) ++end;
    if (!text.empty()) text += ",";
    text += end == i ? std::to_string(ordinals[i]) : fmt::format("{}..{}", ordinals[i], ordinals[end]);
    i = end + 1;
  }
  return text;
}

std::string names_together(const std::vector<std::string>& ids) {
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

std::vector<std::string> unseen_told(const std::map<std::string, std::string>& unseen) {
  std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
  for (const auto& [what, why] : unseen) {
    auto same = std::find_if(reasons.begin(), reasons.end(),
                             [&why = why](const auto& reason) { return reason.first == why; });
    if (same == reasons.end()) same = reasons.insert(same, {why, {}});
    same->second.push_back(what);
  }
  std::vector<std::string> lines;
  for (const auto& [why, names] : reasons)
    lines.push_back(names_together(names) + " could not be checked: " + why);
  return lines;
}

}  // namespace radl

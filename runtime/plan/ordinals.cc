#include "runtime/plan/ordinals.h"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace radl

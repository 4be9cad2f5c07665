#include "common/text.h"

#include <algorithm>

namespace radl {

int edit_distance(std::string_view from, std::string_view to, int limit) {
  int difference = static_cast<int>(from.size()) - static_cast<int>(to.size());
  if (difference > limit || -difference > limit) return limit + 1;
  // Three rows of the usual table: the one before is needed for swapped neighbours.
  std::vector<int> before(to.size() + 1), above(to.size() + 1), row(to.size() + 1);
  for (size_t j = 0; j <= to.size(); j++) above[j] = static_cast<int>(j);
  for (size_t i = 1; i <= from.size(); i++) {
    row[0] = static_cast<int>(i);
    int least = row[0];
    for (size_t j = 1; j <= to.size(); j++) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (from[i - 1] != to[j - 1])});
      bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    if (least > limit) return limit + 1;
    std::swap(before, above);
    std::swap(above, row);
  }
  return std::min(above[to.size()], limit + 1);
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  auto lower = [](std::string_view text) {
    std::string result(text);
    for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return result;
  };
  std::string wanted = lower(word), best;
  int limit = std::max<int>(1, static_cast<int>(word.size()) / 3);
  for (const std::string& name : names) {
    int distance = edit_distance(wanted, lower(name), limit);
    if (distance > limit) continue;
    best = name;
    if (distance == 0) break;
    limit = distance - 1;
  }
  return best;
}

}  // namespace radl

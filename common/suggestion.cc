#include "common/suggestion.h"

#include <algorithm>

#include "common/text.h"

namespace radl {
namespace {

bool has_word(std::string_view name, std::string_view word) {
  constexpr std::string_view kJoints = "_.-";
  for (size_t at = 0; at <= name.size();) {
    const size_t end = std::min(name.find_first_of(kJoints, at), name.size());
    if (equal_ignoring_case(name.substr(at, end - at), word)) return true;
    at = end + 1;
  }
  return false;
}

}  // namespace

std::string suggestion(std::string_view name, const std::vector<std::string>& names) {
  std::string found = nearest(name, names);
  if (!found.empty() || name.size() < 3) return found;
  for (const std::string& each : names) {
    if (!has_word(each, name)) continue;
    if (!found.empty()) return "";
    found = each;
  }
  return found;
}

std::string names_it_has(std::vector<std::string> names) {
  constexpr size_t kMost = 10;
  const size_t more = names.size() - std::min(names.size(), kMost);
  names.resize(names.size() - more);
  return "it has " + join(names, ", ") + (more > 0 ? " and " + std::to_string(more) + " more" : "");
}

}  // namespace radl

#include "runtime/catalog/burstable.h"

#include <cassert>
#include <charconv>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "catalog/burstable_types.h"
#include "common/text.h"

namespace radl {
namespace {

constexpr size_t kColumns = 7;

double number(std::string_view text) {
  double value = 0;
  [[maybe_unused]] const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  assert(text.empty() || (error == std::errc() && end == text.data() + text.size()));
  return value;
}

using Types = std::map<std::string, Burstable, std::less<>>;

std::string key_of(std::string_view cloud, std::string_view type) {
  return std::string(cloud) + " " + std::string(type);
}

Types read_types() {
  Types types;
  bool head = true;
  for (std::string_view line : split(std::string_view(kBurstableTypes, sizeof kBurstableTypes - 1), '\n')) {
    if (trim(line).empty() || line.starts_with('#')) continue;
    if (std::exchange(head, false)) continue;  // the names of the columns
    const std::vector<std::string_view> fields = split(line, ',');
    assert(fields.size() == kColumns);
    if (fields.size() != kColumns) continue;
    types.emplace(key_of(fields[0], fields[1]),
                  Burstable{number(fields[2]), number(fields[3]) / 100, number(fields[4]),
                            fields[5] == "unlimited", number(fields[6])});
  }
  return types;
}

}  // namespace

const Burstable* burstable(std::string_view cloud, std::string_view type) {
  static const Types types = read_types();
  const auto found = types.find(key_of(cloud, type));
  return found == types.end() ? nullptr : &found->second;
}

}  // namespace radl

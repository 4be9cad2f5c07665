#include "runtime/clouds/machine_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

#include "common/human.h"
#include "common/text.h"

namespace radl {
namespace {

struct Checked {
  std::string_view feature;
  const char* fact;
  bool is_size = false;
  double allowance = 1;  // share of the request that is enough
};
// A disk of 20 GB holds a file system that is somewhat smaller.
constexpr std::array<Checked, 11> kChecked{{{"cpu.count", "cpu_count"},
                                            {"cpu.arch", "architecture"},
                                            {"memory.size", "memory_bytes", true},
                                            {"gpu.count", "gpu_count"},
                                            {"gpu.memory", "gpu_memory_bytes", true},
                                            {"gpu.vendor", "gpu_vendor"},
                                            {"gpu.model", "gpu_model"},
                                            {"disk.0.size", "disk_bytes", true, 0.9},
                                            {"disk.0.os.name", "os"},
                                            {"disk.0.os.flavour", "os_flavour"},
                                            {"disk.0.os.version", "os_version"}}};

const Checked* find_checked(std::string_view feature) {
  auto found =
      std::find_if(kChecked.begin(), kChecked.end(), [&](const Checked& c) { return c.feature == feature; });
  return found == kChecked.end() ? nullptr : &*found;
}

Json requirement_json(const ir::Requirement& wanted) {
  Json made = Json::object();
  if (wanted.min) made[wanted.min_strict ? "above" : "min"] = *wanted.min;
  if (wanted.max) made[wanted.max_strict ? "below" : "max"] = *wanted.max;
  if (wanted.equals && !wanted.equals->is_number()) made["equals"] = *wanted.equals;
  if (!wanted.versions.empty()) made["versions"] = wanted.versions;
  return made;
}

// "22.04" against "20.10.1": by the numbers between the dots.
int compare_versions(std::string_view a, std::string_view b) {
  std::vector<std::string_view> left = split(a, '.'), right = split(b, '.');
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    auto number = [&](const std::vector<std::string_view>& parts) {
      long value = 0;
      if (i < parts.size()) std::from_chars(parts[i].data(), parts[i].data() + parts[i].size(), value);
      return value;
    };
    if (number(left) != number(right)) return number(left) < number(right) ? -1 : 1;
  }
  return 0;
}

bool holds(const std::string& op, int order) {
  if (op == ">=") return order >= 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  if (op == "<") return order < 0;
  return order == 0;
}

bool text_fits(const Checked& checked, const Json& wanted, const Json& fact) {
  if (wanted.is_array())
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const Json& one) { return text_fits(checked, one, fact); });
  if (!wanted.is_string() || !fact.is_string()) return false;
  const std::string asked = to_lower(wanted.get<std::string>()), is = to_lower(fact.get<std::string>());
  if (checked.feature == "gpu.model") return is.find(asked) != is.npos;  // "NVIDIA A100-SXM4-40GB"
  if (checked.feature == "disk.0.os.version") return compare_versions(is, asked) == 0;
  return is == asked;
}

bool number_fits(const Checked& checked, const Json& wanted, const Json& fact) {
  const double is = fact.is_number() ? fact.get<double>() : 0;
  const double most = std::numeric_limits<double>::infinity();
  return is >= wanted.value("min", -most) * checked.allowance && is > wanted.value("above", -most) &&
         is <= wanted.value("max", most) && is < wanted.value("below", most);
}

bool fits(const Checked& checked, const Json& wanted, const Json& facts) {
  const Json fact = facts.value(checked.fact, Json());
  if (wanted.contains("equals") && !text_fits(checked, wanted["equals"], fact)) return false;
  const Json versions = wanted.value("versions", Json::object());
  for (const auto& [op, version] : versions.items()) {
    if (!fact.is_string() ||
        !holds(op, compare_versions(fact.get<std::string>(), version.get<std::string>())))
      return false;
  }
  const bool numbers = wanted.contains("min") || wanted.contains("above") || wanted.contains("max") ||
                       wanted.contains("below");
  return !numbers || number_fits(checked, wanted, fact);
}

std::string value_text(const Checked& checked, const Json& value) {
  if (value.is_number())
    return checked.is_size ? size_text(value.get<double>()) : plain_number(value.get<double>());
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "none" : value.dump();
}

std::string wanted_text(const Checked& checked, const Json& wanted) {
  constexpr std::pair<const char*, const char*> kOperators[] = {
      {"min", ">="}, {"above", ">"}, {"max", "<="}, {"below", "<"}, {"equals", "="}};
  std::string text;
  auto add = [&](std::string_view op, const Json& value) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : " and ", checked.feature, op,
                        value_text(checked, value));
  };
  for (const auto& [key, op] : kOperators) {
    if (wanted.contains(key)) add(op, wanted[key]);
  }
  const Json versions = wanted.value("versions", Json::object());
  for (const auto& [op, version] : versions.items()) add(op, version);
  return text;
}

}  // namespace

bool is_checked(const std::string& feature) { return find_checked(feature) != nullptr; }

Json checked_requirements(const ir::Node& node) {
  Json all = Json::object();
  for (const auto& [feature, wanted] : node.requirements) {
    if (is_checked(feature)) all[feature] = requirement_json(wanted);
  }
  return all;
}

std::vector<std::string> unmet(const Json& requirements, const Json& facts) {
  std::vector<std::string> all;
  for (const auto& [feature, wanted] : requirements.items()) {
    const Checked* checked = find_checked(feature);
    if (!checked || fits(*checked, wanted, facts)) continue;
    all.push_back(fmt::format("{}: it has {}", wanted_text(*checked, wanted),
                              value_text(*checked, facts.value(checked->fact, Json()))));
  }
  return all;
}

std::string unmet_text(const std::vector<std::string>& unmet) {
  return fmt::format("{}", fmt::join(unmet, "; "));
}

Json as_observed(const Json& requirements, const Json& facts) {
  Json all = requirements;
  for (auto& [feature, wanted] : all.items()) {
    const Checked* checked = find_checked(feature);
    if (checked && !fits(*checked, wanted, facts)) wanted = {{"found", facts.value(checked->fact, Json())}};
  }
  return all;
}

}  // namespace radl

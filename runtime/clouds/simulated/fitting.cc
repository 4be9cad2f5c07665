#include "runtime/clouds/simulated/fitting.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "common/human.h"
#include "common/text.h"

namespace radl::simulated {
namespace {

bool meets(const ir::Requirement& wanted, double value) {
  if (wanted.min && (value < *wanted.min || (wanted.min_strict && value == *wanted.min))) return false;
  if (wanted.max && (value > *wanted.max || (wanted.max_strict && value == *wanted.max))) return false;
  return true;
}

// A feature that types differ in, and how to tell that one has it.
struct Measure {
  const char* feature;
  std::function<double(const Machine&)> value;
  std::function<std::string(double)> text;
};

std::vector<Measure> measures(const std::string& region, bool spot) {
  return {
      {"cpu.count", [](const Machine& m) { return m.cpu; }, plain_number},
      {"memory.size", [](const Machine& m) { return m.memory_gib * kGiB; }, size_text},
      {"gpu.count", [](const Machine& m) { return m.gpu; }, plain_number},
      {"price", [=](const Machine& m) { return machine_price(region, m, spot).units(); }, plain_number},
  };
}

// Features with one value for all types.
Status check_texts(const ir::Node& node) {
  struct Fixed {
    const char* feature;
    std::vector<std::string> allowed;
  };
  for (const Fixed& fixed :
       {Fixed{"disk.0.os.name", {"linux"}}, Fixed{"cpu.arch", {"x86_64"}}, Fixed{"gpu.vendor", {"nvidia"}}}) {
    std::string wanted = text_wanted(node, fixed.feature);
    if (wanted.empty()) continue;
    bool has = std::any_of(fixed.allowed.begin(), fixed.allowed.end(),
                           [&](const std::string& one) { return equal_ignoring_case(one, wanted); });
    if (!has) {
      return invalid(fmt::format("{}: {} = '{}': the simulated cloud has only '{}'", node.address,
                                 fixed.feature, wanted, join(fixed.allowed, "', '")));
    }
  }
  return {};
}

}  // namespace

std::string text_wanted(const ir::Node& node, const std::string& feature) {
  auto found = node.requirements.find(feature);
  if (found == node.requirements.end() || !found->second.equals) return "";
  const Json& value = *found->second.equals;
  if (value.is_array() && !value.empty() && value.front().is_string()) return value.front();
  return value.is_string() ? value.get<std::string>() : "";
}

bool wants_spot(const ir::Node& node) { return text_wanted(node, "spot") == "yes"; }

Result<std::vector<const Machine*>> fitting_machines(const ir::Node& node, const std::string& region) {
  if (Status right = check_texts(node); !right.ok()) return right;
  std::string named = text_wanted(node, "instance_type");
  if (!named.empty() && !machine(named)) {
    std::vector<std::string> names;
    for (const Machine& known : machines()) names.emplace_back(known.name);
    std::string near = nearest(named, names);
    return invalid(fmt::format("{}: instance_type = '{}': the simulated cloud has no such type", node.address,
                               named))
        .with_hint(near.empty() ? "it has " + join(names, ", ") : "did you mean " + near + "?");
  }
  std::vector<const Machine*> fit;
  for (const Machine& known : machines())
    if (named.empty() || known.name == named) fit.push_back(&known);
  for (const Measure& measure : measures(region, wants_spot(node))) {
    auto wanted = node.requirements.find(measure.feature);
    if (wanted == node.requirements.end()) continue;
    std::vector<const Machine*> left;
    double most = 0;
    for (const Machine* one : fit) {
      most = std::max(most, measure.value(*one));
      if (meets(wanted->second, measure.value(*one))) left.push_back(one);
    }
    if (left.empty()) {
      return invalid(
          fmt::format("{}: {}: no instance type of the simulated cloud has that together with the "
                      "rest (at most {})",
                      node.address, measure.feature, measure.text(most)));
    }
    fit = std::move(left);
  }
  return fit;
}

Result<std::vector<std::string_view>> fitting_zones(const ir::Node& node) {
  std::string named = text_wanted(node, "availability_zone");
  std::vector<std::string_view> zones(std::begin(kZones), std::end(kZones));
  if (named.empty()) return zones;
  auto found = std::find(zones.begin(), zones.end(), named);
  if (found != zones.end()) return std::vector<std::string_view>{*found};
  return invalid(
      fmt::format("{}: availability_zone = '{}': the simulated cloud has a, b and c", node.address, named));
}

}  // namespace radl::simulated

#include "runtime/clouds/simulated/fitting.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "runtime/clouds/fitting.h"
#include "runtime/clouds/simulated/prices.h"

namespace radl::simulated {

Result<std::vector<const InstanceType*>> fitting_machines(const ir::Node& node, const std::string& region) {
  const std::string system = text_wanted(node, "disk.0.os.name");
  if (!system.empty() && !equal_ignoring_case(system, "linux")) {
    return invalid(
        fmt::format("{}: disk.0.os.name = '{}': the simulated cloud has only 'linux'", node.address, system));
  }
  Fitting fitting{node, {}, "the simulated cloud"};
  for (const InstanceType& type : instance_types(region)) fitting.types.push_back(&type);
  return fitting_types(fitting);
}

Result<std::vector<std::string_view>> fitting_zones(const ir::Node& node) {
  std::vector<std::string_view> zones(std::begin(kZones), std::end(kZones)), wanted;
  for (const std::string& named : texts_wanted(node, "availability_zone")) {
    auto found = std::find(zones.begin(), zones.end(), named);
    if (found == zones.end())
      return invalid(fmt::format("{}: availability_zone = '{}': the simulated cloud has a, b and c",
                                 node.address, named));
    wanted.push_back(*found);
  }
  return wanted.empty() ? zones : wanted;
}

}  // namespace radl::simulated

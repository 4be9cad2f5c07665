#include "runtime/clouds/azure/sizes.h"

#include <charconv>
#include <string_view>

namespace radl::azure {
namespace {

// "Standard_NC24ads_A100_v4": family NC, letters "ads", make 4 (Azure, "VM size naming conventions").
struct Parts {
  std::string_view family, letters;
  int make = 1;
};

Parts parts_of(std::string_view size) {
  Parts parts;
  size.remove_prefix(std::min(size.size(), size.find('_') + 1));
  const size_t digits = std::min(size.find_first_of("0123456789"), size.size());
  parts.family = size.substr(0, digits);
  const size_t letters = std::min(size.find_first_not_of("0123456789-", digits), size.size());
  parts.letters = size.substr(letters, size.find('_', letters) - letters);
  if (const size_t make = size.rfind("_v"); make != size.npos)
    std::from_chars(size.data() + make + 2, size.data() + size.size(), parts.make);
  return parts;
}

bool has_premium_storage(const std::string& size) {
  const Parts parts = parts_of(size);
  return parts.letters.find('s') != parts.letters.npos || parts.family == "DS" || parts.family == "GS";
}

bool is_standard(const std::string& disk) { return disk.starts_with("Standard"); }

}  // namespace

const DiskRules& disk_rules() {
  static const DiskRules rules{"Azure",
                               {"Standard_LRS", "StandardSSD_LRS", "StandardSSD_ZRS", "Premium_LRS",
                                "Premium_ZRS", "PremiumV2_LRS", "UltraSSD_LRS"},
                               {"PremiumV2_LRS", "UltraSSD_LRS"},
                               [](const std::string& size, const std::string& disk) {
                                 return is_standard(disk) || has_premium_storage(size);
                               }};
  return rules;
}

bool is_arm(const std::string& size) { return parts_of(size).letters.find('p') != std::string::npos; }

bool needs_nvme(const std::string& size) {
  const Parts parts = parts_of(size);
  return parts.make >= (parts.family == "FX" ? 2 : parts.family == "L" ? 4 : 6);
}

}  // namespace radl::azure

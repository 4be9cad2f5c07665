#include "runtime/clouds/gce/disk_types.h"

#include <algorithm>
#include <cstdint>

#include "runtime/clouds/gce/instance.h"

namespace radl::gce {
namespace {

enum DiskBit : uint16_t {
  kStandard = 1 << 0,
  kBalanced = 1 << 1,
  kSsd = 1 << 2,
  kExtreme = 1 << 3,
  kHyperBalanced = 1 << 4,
  kHyperAvailable = 1 << 5,
  kHyperExtreme = 1 << 6,
  kHyperMl = 1 << 7,
  kHyperThroughput = 1 << 8,
};
constexpr uint16_t kPersistent = kStandard | kBalanced | kSsd | kExtreme;
constexpr uint16_t kHyper = kHyperBalanced | kHyperAvailable | kHyperExtreme | kHyperMl | kHyperThroughput;

constexpr std::pair<const char*, uint16_t> kNames[] = {
    {"pd-standard", kStandard},
    {"pd-balanced", kBalanced},
    {"pd-ssd", kSsd},
    {"pd-extreme", kExtreme},
    {kHyperdisk, kHyperBalanced},
    {"hyperdisk-balanced-high-availability", kHyperAvailable},
    {"hyperdisk-extreme", kHyperExtreme},
    {"hyperdisk-ml", kHyperMl},
    {"hyperdisk-throughput", kHyperThroughput}};

// As Google's driver for disks of Kubernetes has it (kubernetes-sigs/gcp-compute-persistent-disk-csi-driver,
// machine-pd-compatibility), and "About Persistent Disk": no machine of the fourth generation takes one.
constexpr struct {
  const char* family;
  uint16_t disks;
} kFamilies[] = {
    {"a2", kPersistent | kHyperBalanced | kHyperMl},
    {"a3", kBalanced | kSsd | kHyper},
    {"a4", kHyperBalanced | kHyperExtreme | kHyperMl},
    {"a4x", kHyper},
    {"c2", kPersistent},
    {"c2d", kPersistent},
    {"c3", kBalanced | kSsd | kExtreme | kHyper},
    {"c3d", kBalanced | kSsd | kHyper},
    {"c4", kHyper & ~kHyperMl},
    {"c4a", kHyper},
    {"c4d", kHyper & ~kHyperMl},
    {"custom", kPersistent},  // of n1
    {"e2", kPersistent},
    {"g2", kStandard | kBalanced | kSsd | kHyperMl | kHyperThroughput},
    {"g4", kHyper},
    {"h3", kBalanced | kHyperBalanced | kHyperThroughput},
    {"h4d", kHyperBalanced | kHyperAvailable},
    {"m1", kPersistent | kHyperBalanced | kHyperExtreme},
    {"m2", kPersistent | kHyperBalanced | kHyperExtreme},
    {"m3", kPersistent | (kHyper & ~kHyperMl)},
    {"m4", kHyperBalanced | kHyperExtreme},
    {"n1", kPersistent},
    {"n2", kPersistent | kHyperBalanced | kHyperExtreme | kHyperThroughput},
    {"n2d", kPersistent | kHyperThroughput},
    {"n4", kHyperBalanced | kHyperAvailable | kHyperThroughput},
    {"n4a", kHyper & ~kHyperExtreme},
    {"n4d", kHyperBalanced | kHyperAvailable | kHyperThroughput},
    {"t2a", kPersistent},
    {"t2d", kStandard | kBalanced | kSsd | kHyperThroughput},
    {"x4", kHyperBalanced | kHyperExtreme},
    {"z3", kBalanced | kSsd | (kHyper & ~kHyperMl)},
};

// For an unknown family, only its generation counts.
uint16_t disks_of(const std::string& machine) {
  const std::string family = machine.substr(0, machine.find('-'));
  for (const auto& one : kFamilies)
    if (family == one.family) return one.disks;
  return needs_hyperdisk(machine) ? kHyper : kPersistent | kHyper;
}

bool takes(const std::string& machine, const std::string& disk) {
  return std::any_of(std::begin(kNames), std::end(kNames), [&](const auto& one) {
    return disk == one.first && (disks_of(machine) & one.second) != 0;
  });
}

}  // namespace

const DiskRules& disk_rules() {
  static const DiskRules rules = [] {
    DiskRules made{
        "Compute Engine", {}, {"hyperdisk-extreme", "hyperdisk-ml", "hyperdisk-throughput"}, takes};
    for (const auto& [name, disk] : kNames) made.types.emplace_back(name);
    return made;
  }();
  return rules;
}

std::string usual_disk(const std::string& machine_type) {
  if (takes(machine_type, "pd-standard")) return "";
  return takes(machine_type, "pd-balanced") ? "pd-balanced" : kHyperdisk;
}

}  // namespace radl::gce

#include "runtime/clouds/simulated/prices.h"

namespace radl::simulated {
namespace {

struct Machine {
  std::string_view name;
  double cpu;  // virtual cores
  double memory_gib;
  double gpu;
  double price;  // per hour, in EUR
};
constexpr Machine kMachines[] = {
    {"s1.micro", 1, 1, 0, 0.0064},      {"s1.small", 2, 2, 0, 0.0192},     {"s1.medium", 2, 4, 0, 0.0416},
    {"s1.large", 2, 8, 0, 0.0832},      {"m1.large", 4, 16, 0, 0.192},     {"m1.xlarge", 8, 32, 0, 0.384},
    {"r1.2xlarge", 8, 64, 0, 0.504},    {"c1.4xlarge", 16, 32, 0, 0.6},    {"g1.xlarge", 4, 16, 1, 0.752},
    {"m1.4xlarge", 16, 64, 0, 0.768},   {"r1.8xlarge", 32, 256, 0, 2.016}, {"m1.16xlarge", 64, 256, 0, 3.072},
    {"g1.12xlarge", 48, 192, 4, 5.672},
};
constexpr double kSpotShare = 0.3;
constexpr double kVolumeGibHour = 0.00011;  // 0.08 a month
constexpr double kAddressHour = 0.005;

Money in_region(const std::string& region, double price) {
  return region == "us" ? Money::of(price * 0.92, "USD") : Money::of(price, "EUR");
}

std::vector<InstanceType> types_of(const std::string& region) {
  std::vector<InstanceType> types;
  for (const Machine& machine : kMachines) {
    InstanceType type;
    type.cloud = "simulated";
    type.region = region;
    type.name = machine.name;
    type.cpu = machine.cpu;
    type.memory_bytes = machine.memory_gib * kGiB;
    type.gpu = machine.gpu;
    if (machine.gpu > 0) {
      type.gpu_vendor = "NVIDIA";
      type.gpu_model = "T4";
    }
    type.architectures = "x86_64";
    type.on_demand = Price{in_region(region, machine.price), ""};
    type.spot = Price{in_region(region, machine.price * kSpotShare), ""};
    types.push_back(std::move(type));
  }
  return types;
}

}  // namespace

const std::vector<InstanceType>& instance_types(const std::string& region) {
  static const std::vector<InstanceType> dollars = types_of("us"), euros = types_of("eu");
  return region == "us" ? dollars : euros;
}

const InstanceType* instance_type(const std::string& region, std::string_view name) {
  for (const InstanceType& known : instance_types(region))
    if (known.name == name) return &known;
  return nullptr;
}

Money volume_price(const std::string& region, double gib) { return in_region(region, gib * kVolumeGibHour); }
Money address_price(const std::string& region) { return in_region(region, kAddressHour); }

}  // namespace radl::simulated

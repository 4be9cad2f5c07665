// What this cloud need not ask twice (runtime/clouds/memory.h): images, flavors, networks, and what earlier
// requests with the same token came to.
#pragma once

#include <string>
#include <vector>

#include "runtime/catalog/catalog.h"
#include "runtime/clouds/memory.h"
#include "runtime/clouds/openstack/creations.h"

namespace radl::openstack {

inline constexpr double kMiB = 1024.0 * 1024, kGiB = 1024 * kMiB;

struct Image {
  std::string id, name, user, system;  // login, "debian 12"
  double min_disk_gib = 0, min_memory_bytes = 0;
};

struct Flavor {
  std::string id;
  double disk_gib = 0;
  InstanceType type;  // name, cores, memory, graphics processors
};

struct NetworkNow {
  std::string id, name, project;
  bool external = false, shared = false, of_radlc = false, only_ipv6 = false;
  std::vector<std::string> subnets;
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<std::vector<Flavor>> flavors;
  Known<std::vector<NetworkNow>> networks;
  Creations creations;
};

}  // namespace radl::openstack

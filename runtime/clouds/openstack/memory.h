// What this cloud need not ask twice (runtime/clouds/memory.h): images, flavors, networks, and what earlier
// requests with the same token came to.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/catalog/catalog.h"
#include "runtime/clouds/memory.h"
#include "runtime/clouds/openstack/creations.h"

namespace radl::openstack {

inline constexpr double kMiB = 1024.0 * 1024, kGiB = 1024 * kMiB;

struct Image {
  std::string id, name, user, system;  // login, "debian 12"
  std::string architecture;            // "x86_64", "aarch64"; "": not said
  double min_disk_gib = 0, min_memory_bytes = 0;
  bool is_volume = false;  // one that is there already, from which the machine starts
};

struct Flavor {
  std::string id;
  double disk_gib = 0;
  InstanceType type;  // name, cores, memory, graphics processors
};

struct NetworkNow {
  std::string id, name, project;
  bool external = false, shared = false, of_radlc = false, only_ipv6 = false;
  bool takes_groups = true;  // false: its ports have no port security, and so no security groups
  std::vector<std::string> subnets;
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<std::vector<Flavor>> flavors;
  Known<std::vector<NetworkNow>> networks;
  Creations creations;

  // Flavors that no host of a zone ("": of any) had room for: others that fit come before them.
  void note_full(const std::string& flavor, const std::string& zone) {
    std::lock_guard guard(mutex_);
    full_.emplace(flavor, zone);
  }
  bool is_full(const std::string& flavor, const std::string& zone) const {
    std::lock_guard guard(mutex_);
    return full_.count({flavor, zone}) > 0;
  }

  // Ranges of networks that are made at the same time: no two choose the same. `choose` is given what was
  // chosen before; "" chooses none.
  std::string choose_range(const std::function<std::string(const std::set<std::string>& chosen)>& choose) {
    std::lock_guard guard(mutex_);
    std::string range = choose(chosen_ranges_);
    if (!range.empty()) chosen_ranges_.insert(range);
    return range;
  }

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> full_;  // flavor, zone
  std::set<std::string> chosen_ranges_;
};

}  // namespace radl::openstack

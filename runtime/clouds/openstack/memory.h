// Cached data of this cloud (runtime/clouds/memory.h): images, flavors, networks, and the results of earlier
// requests with the same token.
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
  std::string architecture;            // "x86_64", "aarch64"; "": unknown
  double min_disk_gib = 0, min_memory_bytes = 0;
  bool is_volume = false;  // an existing volume from which the machine boots
};

struct Flavor {
  std::string id;
  double disk_gib = 0;
  InstanceType type;  // name, cores, memory, GPUs
};

struct NetworkNow {
  std::string id, name, project;
  bool external = false, shared = false, of_radlc = false, only_ipv6 = false;
  bool takes_groups = true;  // false: its ports have no port security, hence no security groups
  std::vector<std::string> subnets;
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<std::vector<Flavor>> flavors;
  Known<std::vector<NetworkNow>> networks;
  Creations creations;

  // Flavors for which no host of a zone ("": any) had capacity; other fitting ones are tried first.
  void note_full(const std::string& flavor, const std::string& zone) {
    std::lock_guard guard(mutex_);
    full_.emplace(flavor, zone);
  }
  bool is_full(const std::string& flavor, const std::string& zone) const {
    std::lock_guard guard(mutex_);
    return full_.count({flavor, zone}) > 0;
  }

  // Serializes the choice of ranges for concurrently created networks, so that all differ. `choose` receives
  // the earlier choices; "" chooses none.
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

// Cached data of this cloud (runtime/clouds/memory.h), with images and subnets.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/clouds/memory.h"

namespace radl::ec2 {

struct Image {
  std::string id, name, root_device, architecture;
  double root_gib = 0;
};

struct Subnet {
  std::string id, zone;
};

struct Vpc {
  std::string id;
  std::vector<Subnet> subnets;  // by zone; for the default VPC, the default subnets
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<Vpc> vpcs;

  // Records the machine created for a token: listing by ID is faster than by tags.
  void note_made(const std::string& token, const std::string& id) {
    std::lock_guard guard(made_mutex_);
    made_[token] = id;
  }
  std::optional<std::string> made_for(const std::string& token) const {
    std::lock_guard guard(made_mutex_);
    auto found = made_.find(token);
    return found == made_.end() ? std::nullopt : std::optional<std::string>(found->second);
  }
  // Records volumes created with a machine. radlc ignores volumes attached by others.
  void note_disks(const std::string& machine, std::set<std::string> disks) {
    std::lock_guard guard(made_mutex_);
    disks_[machine] = std::move(disks);
  }
  std::set<std::string> disks_of(const std::string& machine) const {
    std::lock_guard guard(made_mutex_);
    auto found = disks_.find(machine);
    return found == disks_.end() ? std::set<std::string>() : found->second;
  }
  // Records the subnet of a machine; "": none or unknown.
  void note_subnet(const std::string& machine, const std::string& subnet) {
    std::lock_guard guard(made_mutex_);
    subnets_[machine] = subnet;
  }
  std::string subnet_of(const std::string& machine) const {
    std::lock_guard guard(made_mutex_);
    auto found = subnets_.find(machine);
    return found == subnets_.end() ? "" : found->second;
  }

 private:
  mutable std::mutex made_mutex_;
  std::map<std::string, std::string> made_;
  std::map<std::string, std::set<std::string>> disks_;  // by machine
  std::map<std::string, std::string> subnets_;          // by machine
};

}  // namespace radl::ec2

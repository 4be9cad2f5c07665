// What this cloud need not ask twice (runtime/clouds/memory.h), with images and subnets.
#pragma once

#include <map>
#include <mutex>
#include <optional>
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
  std::vector<Subnet> subnets;  // by zone; of the default VPC those that are a zone's default
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<Vpc> vpcs;

  // The machine that a token has made: lists by ids are quicker than by tags.
  void note_made(const std::string& token, const std::string& id) {
    std::lock_guard guard(made_mutex_);
    made_[token] = id;
  }
  std::optional<std::string> made_for(const std::string& token) const {
    std::lock_guard guard(made_mutex_);
    auto found = made_.find(token);
    return found == made_.end() ? std::nullopt : std::optional<std::string>(found->second);
  }

 private:
  mutable std::mutex made_mutex_;
  std::map<std::string, std::string> made_;
};

}  // namespace radl::ec2

// What this cloud need not ask twice (runtime/clouds/memory.h), with images and subnets.
#pragma once

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
};

}  // namespace radl::ec2

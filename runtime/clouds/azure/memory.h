// What this cloud need not ask twice (runtime/clouds/memory.h), and the operations that it has begun.
#pragma once

#include <string>

#include "runtime/clouds/memory.h"
#include "runtime/clouds/operations.h"

namespace radl::azure {

struct Image {
  Json reference;            // of storageProfile: {"publisher", ..} or {"id"}
  Json plan;                 // of an image that is bought in the marketplace; null: none
  double disk_gib = 0;       // 0: not known
  std::string architecture;  // "x64", "Arm64"; "": not said
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<std::string> subscriptions;
  Operations operations;
};

}  // namespace radl::azure

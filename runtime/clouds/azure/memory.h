// Cached data of this cloud (runtime/clouds/memory.h), and the operations it has started.
#pragma once

#include <string>

#include "runtime/clouds/memory.h"
#include "runtime/clouds/operations.h"

namespace radl::azure {

struct Image {
  Json reference;            // for storageProfile: {"publisher", ..} or {"id"}
  Json plan;                 // of a purchased marketplace image; null: none
  double disk_gib = 0;       // 0: unknown
  std::string architecture;  // "x64", "Arm64"; "": unknown
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Known<std::string> subscriptions;
  Operations operations;
};

}  // namespace radl::azure

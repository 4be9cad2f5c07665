// Cached data of this cloud (runtime/clouds/memory.h), and the operations it has started.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "runtime/clouds/memory.h"
#include "runtime/clouds/operations.h"

namespace radl::gce {

inline constexpr double kGiB = 1024.0 * 1024 * 1024;

struct Image {
  std::string path;  // "projects/debian-cloud/global/images/debian-12-bookworm-v20250101"
  std::string name, family;
  double disk_gib = 0;
  std::string architecture;  // "X86_64", "ARM64"; "": unknown
};

class Memory : public CloudMemory {
 public:
  Known<Image> images;
  Operations operations;
};

}  // namespace radl::gce

#include "engine/tensor/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>

namespace radl::engine {

namespace {
constexpr size_t kChecked = size_t{64} << 20;
}

Buffer::Buffer(size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  // Pages are given out as they are first touched: more than there is would end the process, not this call.
  if (bytes >= kChecked && bytes > available_memory()) throw std::bad_alloc();
  const size_t huge = size_t{2} << 20, alignment = bytes >= huge ? huge : 64;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (!memory) throw std::bad_alloc();
  if (alignment == huge) madvise(memory, rounded, MADV_HUGEPAGE);  // a hint: refusal costs only speed
  std::memset(memory, 0, rounded);
  data_.reset(static_cast<std::byte*>(memory));
}

void Buffer::Free::operator()(std::byte* p) const { std::free(p); }

namespace {

// A number in a file of the control group; "max" or nothing there: no limit.
size_t cgroup_number(const char* path) {
  std::ifstream in(path);
  size_t value = 0;
  return in >> value ? value : std::numeric_limits<size_t>::max();
}

}  // namespace

size_t available_memory() {
  std::ifstream in("/proc/meminfo");
  size_t available = std::numeric_limits<size_t>::max();
  for (std::string key; in >> key;) {
    size_t kib = 0;
    if (key == "MemAvailable:" && in >> kib) available = kib * 1024;
  }
  const size_t limit = cgroup_number("/sys/fs/cgroup/memory.max");
  const size_t used = cgroup_number("/sys/fs/cgroup/memory.current");
  if (limit != std::numeric_limits<size_t>::max() && used != std::numeric_limits<size_t>::max())
    available = std::min(available, limit > used ? limit - used : 0);
  return available;
}

}  // namespace radl::engine

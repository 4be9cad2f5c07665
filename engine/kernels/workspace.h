// Scratch memory shared by all kernels of a network, one piece per thread. Only one kernel runs at a time,
// and its memory is still in the cache when the next kernel packs into it.
#pragma once

#include <algorithm>

#include "engine/tensor/buffer.h"

namespace radl::engine {

class Workspace {
 public:
  explicit Workspace(int threads) : threads_(threads) {}
  // Call while layers are built: makes every thread's piece at least this large. Moves the memory.
  void reserve(size_t bytes_per_thread) {
    if (bytes_per_thread <= each_) return;
    each_ = (bytes_per_thread + 127) / 64 * 64;
    memory_ = Buffer(each_ * threads_);
  }
  std::byte* of(int thread) { return memory_.data() + thread * each_; }
  size_t size() const { return memory_.size(); }

 private:
  int threads_;
  size_t each_ = 0;
  Buffer memory_;
};

}  // namespace radl::engine

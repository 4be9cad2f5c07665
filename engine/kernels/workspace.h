// Scratch memory that all kernels of a network share, one piece a thread: only one kernel runs at a time, and
// what it left there is still in the cache when the next one packs into it.
#pragma once

#include <algorithm>

#include "engine/tensor/buffer.h"

namespace radl::engine {

class Workspace {
 public:
  explicit Workspace(int threads) : threads_(threads) {}
  // While layers are built: makes every thread's piece at least this large. Moves the memory.
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

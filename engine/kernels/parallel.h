// Divides work among the threads of a step: static shares, so that the same thread count gives the same sums;
// or items, whose results do not depend on the thread, assigned dynamically.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace radl::engine {

// Cores that this process may use.
int usable_cores();

struct Share {
  size_t begin, end;
};

// The part of [0, count) for thread `t` of `threads`, in multiples of `grain`.
inline Share share_of(size_t count, int t, int threads, size_t grain = 1) {
  const size_t pieces = (count + grain - 1) / grain;
  const size_t begin = pieces * t / threads * grain, end = pieces * (t + 1) / threads * grain;
  return {std::min(begin, count), std::min(end, count)};
}

// Runs task(context, t) for t = 0 .. threads-1: t = 0 on the calling thread, the others on helpers that
// belong to the calling thread. Helpers spin for a few microseconds and then sleep, so that a busy machine
// loses little. Allocates only if more helpers are needed than before.
void run_on_threads(int threads, void (*task)(void* context, int t), void* context);

// Calls f(begin, end, thread) with each thread's share. Skips threads without work.
template <class F>
void parallel_for(int threads, size_t count, size_t grain, F&& f) {
  if (threads <= 1 || count <= grain) {
    if (count) f(size_t{0}, count, 0);
    return;
  }
  struct Work {
    F& f;
    size_t count, grain;
    int threads;
  } work{f, count, grain, threads};
  run_on_threads(
      threads,
      [](void* context, int t) {
        const Work& w = *static_cast<Work*>(context);
        const Share s = share_of(w.count, t, w.threads, w.grain);
        if (s.begin < s.end) w.f(s.begin, s.end, t);
      },
      &work);
}

// Calls f(thread) on each thread.
template <class F>
void on_each_thread(int threads, F&& f) {
  if (threads <= 1) return f(0);
  run_on_threads(
      threads, [](void* context, int t) { (*static_cast<F*>(context))(t); }, &f);
}

// The untaken items of a loop. A thread takes the items of its own share in order, so that neighbors stay in
// its cache, then the last items of threads that are behind. So a thread that the machine delays costs the
// loop one item, not half of its share.
class ItemsLeft {
 public:
  explicit ItemsLeft(int threads) : shares_(static_cast<size_t>(threads)) {}
  // Call before a loop, from one thread. Up to 2^32 items.
  void reset(size_t count) {
    const int threads = static_cast<int>(shares_.size());
    for (int t = 0; t < threads; ++t) {
      const Share s = share_of(count, t, threads);
      shares_[t].left.store(s.begin << 32 | s.end, std::memory_order_relaxed);
    }
  }
  std::optional<size_t> take(int thread) {
    std::optional<size_t> item = front(shares_[thread]);
    const size_t threads = shares_.size();
    for (size_t k = 1; !item && k < threads; ++k) item = back(shares_[(thread + k) % threads]);
    return item;
  }

 private:
  struct Shared {
    alignas(64) std::atomic<uint64_t> left;  // begin << 32 | end
  };
  static std::optional<size_t> front(Shared& s) {
    uint64_t left = s.left.load(std::memory_order_relaxed);
    while (left >> 32 < (left & UINT32_MAX))
      if (s.left.compare_exchange_weak(left, left + (uint64_t{1} << 32), std::memory_order_relaxed))
        return left >> 32;
    return std::nullopt;
  }
  static std::optional<size_t> back(Shared& s) {
    uint64_t left = s.left.load(std::memory_order_relaxed);
    while (left >> 32 < (left & UINT32_MAX))
      if (s.left.compare_exchange_weak(left, left - 1, std::memory_order_relaxed))
        return (left & UINT32_MAX) - 1;
    return std::nullopt;
  }

  std::vector<Shared> shares_;
};

}  // namespace radl::engine

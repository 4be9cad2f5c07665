#include "engine/kernels/parallel.h"

#include <immintrin.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <thread>

#include "common/processors.h"

namespace radl::engine {

namespace {

constexpr int kSpins = 2000;  // of a pause each: some 20 microseconds

// Waits until `value` is no longer `old`.
void await_change(const std::atomic<uint32_t>& value, uint32_t old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    _mm_pause();
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

// The helpers of one calling thread.
class Pool {
 public:
  ~Pool() {
    stopping_ = true;
    for (Helper& h : helpers_) {
      h.given.fetch_add(1, std::memory_order_release);
      h.given.notify_one();
      h.thread.join();
    }
  }

  void run(int threads, void (*task)(void*, int), void* context) {
    while (static_cast<int>(helpers_.size()) < threads - 1) start();
    task_ = task, context_ = context;
    for (int i = 0; i < threads - 1; ++i) {
      helpers_[i].given.fetch_add(1, std::memory_order_release);
      helpers_[i].given.notify_one();
    }
    task(context, 0);
    for (int i = 0; i < threads - 1; ++i) await(helpers_[i]);
  }

 private:
  struct Helper {
    alignas(64) std::atomic<uint32_t> given{0};
    alignas(64) std::atomic<uint32_t> done{0};
    std::thread thread;
  };

  void start() {
    Helper& h = helpers_.emplace_back();
    const int t = static_cast<int>(helpers_.size());
    h.thread = std::thread([this, &h, t] {
      for (uint32_t seen = 0;; ++seen) {
        await_change(h.given, seen);
        if (stopping_) return;
        task_(context_, t);
        h.done.fetch_add(1, std::memory_order_release);
        h.done.notify_one();
      }
    });
  }

  static void await(Helper& h) {
    const uint32_t wanted = h.given.load(std::memory_order_relaxed);
    if (h.done.load(std::memory_order_acquire) != wanted) await_change(h.done, wanted - 1);
  }

  std::deque<Helper> helpers_;
  void (*task_)(void*, int) = nullptr;
  void* context_ = nullptr;
  std::atomic<bool> stopping_{false};
};

}  // namespace

void run_on_threads(int threads, void (*task)(void* context, int t), void* context) {
  thread_local Pool pool;
  pool.run(threads, task, context);
}

int usable_cores() { return radl::usable_cores(); }

}  // namespace radl::engine

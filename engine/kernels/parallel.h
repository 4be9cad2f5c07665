// Splitting work over the threads of a step: static shares, so that the same thread count gives the same
// sums.
#pragma once

#include <algorithm>
#include <cstddef>

namespace radl::engine {

// Cores that this process may use.
int usable_cores();

struct Share {
  size_t begin, end;
};

// The part of [0, count) that thread `t` of `threads` takes, in whole multiples of `grain`.
inline Share share_of(size_t count, int t, int threads, size_t grain = 1) {
  const size_t pieces = (count + grain - 1) / grain;
  const size_t begin = pieces * t / threads * grain, end = pieces * (t + 1) / threads * grain;
  return {std::min(begin, count), std::min(end, count)};
}

// Runs task(context, t) for t = 0 .. threads-1, t = 0 on the calling thread, the others on helpers that the
// calling thread keeps for its life. Helpers spin a few microseconds for the next task and then sleep, so
// that a machine with other work loses little. Allocates only when more helpers are wanted than before.
void run_on_threads(int threads, void (*task)(void* context, int t), void* context);

// f(begin, end, thread) on each thread's share; threads without work are not called.
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

}  // namespace radl::engine

// Splitting work over the threads of a step: static shares, so that the same thread count gives the same
// sums.
#pragma once

#include <omp.h>

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

// f(begin, end, thread) on each thread's share; threads without work are not called.
template <class F>
void parallel_for(int threads, size_t count, size_t grain, F&& f) {
  if (threads <= 1 || count <= grain) {
    if (count) f(size_t{0}, count, 0);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const int t = omp_get_thread_num();
    const Share s = share_of(count, t, omp_get_num_threads(), grain);
    if (s.begin < s.end) f(s.begin, s.end, t);
  }
}

}  // namespace radl::engine

// The batch of a training that names none: the engine takes it, and forecasts count with it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace radl {

// Images in one worker's step, for a training part of so many images (0: unknown). 128, and fewer for a small
// part: the largest power of two that gives an epoch 16 steps, but at least 8 where there are as many.
inline int default_batch(uint64_t images) {
  constexpr uint64_t kMost = 128, kLeast = 8, kStepsOfAnEpoch = 16;
  if (images == 0) return kMost;
  if (images <= kLeast) return static_cast<int>(images);
  return static_cast<int>(
      std::clamp(std::bit_floor(std::max<uint64_t>(images / kStepsOfAnEpoch, 1)), kLeast, kMost));
}

}  // namespace radl

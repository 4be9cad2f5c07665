// The default batch size, shared by the engine and forecasts.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace radl {

// Images per step of one worker, for a training part of `images` images (0: unknown). 128 by default. For a
// small part: the largest power of two that gives an epoch 16 steps, but at least 8 if the part has as many.
inline int default_batch(uint64_t images) {
  constexpr uint64_t kMost = 128, kLeast = 8, kStepsOfAnEpoch = 16;
  if (images == 0) return kMost;
  if (images <= kLeast) return static_cast<int>(images);
  return static_cast<int>(
      std::clamp(std::bit_floor(std::max<uint64_t>(images / kStepsOfAnEpoch, 1)), kLeast, kMost));
}

}  // namespace radl

// What the process of one member uses, for its progress lines and TensorBoard.
#pragma once

#include <cstdint>

#include "common/clock.h"

namespace radl::engine {

struct NodeUse {
  double waiting_share = 0;   // of the time, waiting for exchanges; 0 where members exchange nothing
  double cores = 0;           // processor seconds per second
  uint64_t memory_bytes = 0;  // resident
};

class NodeMeter {
 public:
  // Since the last call, or since construction. `exchange_seconds`: waited for exchanges so far.
  NodeUse take(double exchange_seconds);

 private:
  SteadyClock::time_point since_ = SteadyClock::now();
  double processor_ = processor_seconds(CLOCK_PROCESS_CPUTIME_ID), exchange_ = 0;
};

}  // namespace radl::engine

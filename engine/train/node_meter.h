// Resource use of a member's process, for its progress lines and TensorBoard.
#pragma once

#include <cstdint>

#include "common/clock.h"

namespace radl::engine {

struct NodeUse {
  double waiting_share = 0;   // share of the time spent waiting for exchanges; 0 without exchanges
  double cores = 0;           // CPU seconds per second
  uint64_t memory_bytes = 0;  // resident
};

class NodeMeter {
 public:
  // Use since the last call, or since construction. `exchange_seconds`: total wait for exchanges so far.
  NodeUse take(double exchange_seconds);

 private:
  SteadyClock::time_point since_ = SteadyClock::now();
  double processor_ = processor_seconds(CLOCK_PROCESS_CPUTIME_ID), exchange_ = 0;
};

}  // namespace radl::engine

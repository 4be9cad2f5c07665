#include "engine/train/node_meter.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace radl::engine {
namespace {

// proc(5): the second number of statm is in pages.
uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

NodeUse NodeMeter::take(double exchange_seconds) {
  const double seconds = std::max(seconds_since(since_), 1e-9),
               processor = processor_seconds(CLOCK_PROCESS_CPUTIME_ID);
  const NodeUse out{.waiting_share = std::clamp((exchange_seconds - exchange_) / seconds, 0.0, 1.0),
                    .cores = (processor - processor_) / seconds,
                    .memory_bytes = resident_bytes()};
  since_ = SteadyClock::now();
  processor_ = processor;
  exchange_ = exchange_seconds;
  return out;
}

}  // namespace radl::engine

// Measures whether a benchmark had the machine to itself, from the kernel's counters (proc(5)).
#pragma once

namespace radl::engine::cli {

struct MachineLoad {
  double waited = 0;  // share of the time in which our threads could run but had no core
  double stolen = 0;  // share of all cores' time that the hypervisor gave to other guests
};

// Measures from its construction on.
class LoadMeter {
 public:
  LoadMeter();
  MachineLoad so_far() const;

 private:
  struct Counts {
    double ran = 0, waited = 0;  // nanoseconds of our threads
    double stolen = 0, all = 0;  // ticks of all cores
  };
  static Counts now();
  Counts begin_;
};

}  // namespace radl::engine::cli

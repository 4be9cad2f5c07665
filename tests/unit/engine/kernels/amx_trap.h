// Runs compiled AMX instructions on processors that have none: they end in SIGILL there, whose handler reads
// the instruction (Intel's manual, volume 2), lets AmxEmulation do it on this thread's emulated registers,
// and goes on behind it. Slow (some microseconds an instruction), but it is the machine code of the product
// that runs.
#pragma once

#include <csignal>

#include "engine/kernels/cpu.h"

namespace radl::engine {

// While one lives, where the processor has no AMX; where it has, it does nothing. One at a time.
class AmxTrap {
 public:
  AmxTrap();
  ~AmxTrap();
  AmxTrap(const AmxTrap&) = delete;
  AmxTrap& operator=(const AmxTrap&) = delete;
  // Instructions done so far by the handler.
  static long count();

 private:
  bool on_ = !cpu().amx_bf16;
  struct sigaction before_ = {};
};

}  // namespace radl::engine

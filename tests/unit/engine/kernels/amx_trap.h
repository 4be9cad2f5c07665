// Runs compiled AMX instructions on processors without AMX: they raise SIGILL, and the handler decodes the
// instruction (Intel's manual, volume 2), executes it with AmxEmulation on this thread's emulated
// registers, and resumes after it. Slow (some microseconds per instruction), but it tests the product's
// machine code.
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

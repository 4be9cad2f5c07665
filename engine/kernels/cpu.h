// Features of this processor, detected once.
#pragma once

#include <string>

namespace radl::engine {

struct CpuFeatures {
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, BW, VL, DQ
  bool avx512_bf16 = false;
  bool amx_bf16 = false;  // and the kernel allows this process to use it
  // AVX-512's bf16 dot products take as long as twice as many fp32 ones: Intel's processors have one unit for
  // the former and two for the latter (docs/engine.md has the measurement).
  bool slow_bf16_dots = false;
  bool limited = false;  // some features are disabled
  std::string warning;   // message for the user; usually empty
};

// The environment variable RADL_MAX_ISA (baseline, avx2, avx512, avx512_bf16, amx_bf16) disables everything
// above it, to test other machines' code paths and to reproduce their bits.
const CpuFeatures& cpu();
// Returns `f` without AMX, because its tile products are wrong; `disagreement` explains how.
CpuFeatures without_amx(CpuFeatures f, const std::string& disagreement);
// "avx2 avx512 avx512_bf16"; "baseline" if none is available.
std::string cpu_text(const CpuFeatures& features = cpu());

}  // namespace radl::engine

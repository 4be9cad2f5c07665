// What this processor can do, asked once.
#pragma once

#include <string>

namespace radl::engine {

struct CpuFeatures {
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, BW, VL, DQ
  bool avx512_bf16 = false;
  bool amx_bf16 = false;  // and the kernel lets this process use it
  // AVX-512's bf16 dot products take as long as twice as many fp32 ones: Intel's processors have one unit for
  // them and two for fp32 (docs/engine.md has the measurement).
  bool slow_bf16_dots = false;
  bool limited = false;  // less than there is
  std::string warning;   // for the user; usually empty
};

// RADL_MAX_ISA (baseline, avx2, avx512, avx512_bf16, amx_bf16) in the environment leaves out what is above:
// for tests of the other machines' paths, and to get another machine's bits.
const CpuFeatures& cpu();
// `f`, which has AMX, without it, because its tile products are wrong: `disagreement` says how.
CpuFeatures without_amx(CpuFeatures f, const std::string& disagreement);
// "avx2 avx512 avx512_bf16"; "baseline" when there is none of these.
std::string cpu_text(const CpuFeatures& features = cpu());

}  // namespace radl::engine

// What this processor can do, asked once.
#pragma once

#include <string>

namespace radl::engine {

struct CpuFeatures {
  bool avx2 = false;    // with FMA
  bool avx512 = false;  // F, BW, VL, DQ
  bool avx512_bf16 = false;
  bool amx_bf16 = false;
};

const CpuFeatures& cpu();
// "avx2 avx512 avx512_bf16"; "baseline" when there is none of these.
std::string cpu_text();

}  // namespace radl::engine

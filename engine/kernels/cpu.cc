#include "engine/kernels/cpu.h"

#include <cpuid.h>


namespace radl::engine {

namespace {

CpuFeatures detect() {
  CpuFeatures f;
  __builtin_cpu_init();
  f.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  f.avx512 = f.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  f.avx512_bf16 = f.avx512 && __builtin_cpu_supports("avx512bf16");
  unsigned a = 0, b = 0, c = 0, d = 0;
  // CPUID leaf 7: EDX bit 22 is AMX-BF16, bit 24 AMX-TILE. oneDNN asks the kernel for the permission to use
  // tiles.
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) f.amx_bf16 = f.avx512_bf16 && (d >> 22 & 1) && (d >> 24 & 1);
  return f;
}

}  // namespace

const CpuFeatures& cpu() {
  static const CpuFeatures features = detect();
  return features;
}

std::string cpu_text() {
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (has) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(cpu().avx2, "avx2");
  add(cpu().avx512, "avx512");
  add(cpu().avx512_bf16, "avx512_bf16");
  add(cpu().amx_bf16, "amx_bf16");
  return text.empty() ? "baseline" : text;
}

}  // namespace radl::engine

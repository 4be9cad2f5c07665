#include "engine/kernels/cpu.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "engine/kernels/own/amx_check.h"

namespace radl::engine {

namespace {

// A process must request tile state from the kernel (Linux 5.16 and later;
// Documentation/arch/x86/xstate.rst).
bool may_use_tiles() {
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  return ::syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

// What RADL_MAX_ISA leaves of it.
CpuFeatures limit(CpuFeatures f) {
  const char* text = std::getenv("RADL_MAX_ISA");
  if (!text) return f;
  const std::string_view most = text;
  f.limited = true;
  f.amx_bf16 = f.amx_bf16 && most == "amx_bf16";
  f.avx512_bf16 = f.avx512_bf16 && (most == "avx512_bf16" || most == "amx_bf16");
  f.avx512 = f.avx512 && most.starts_with("a") && most != "avx2";
  f.avx2 = f.avx2 && most != "baseline";
  return f;
}

CpuFeatures detect() {
  CpuFeatures f;
  __builtin_cpu_init();
  f.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  f.avx512 = f.avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  f.avx512_bf16 = f.avx512 && __builtin_cpu_supports("avx512bf16");
  f.slow_bf16_dots = f.avx512_bf16 && __builtin_cpu_is("intel");
  unsigned a = 0, b = 0, c = 0, d = 0;
  // CPUID leaf 7: EDX bit 22 is AMX-BF16, bit 24 AMX-TILE.
  if (f.avx512_bf16 && __get_cpuid_count(7, 0, &a, &b, &c, &d))
    f.amx_bf16 = (d >> 22 & 1) && (d >> 24 & 1) && may_use_tiles();
  f = limit(f);
  if (!f.amx_bf16) return f;
  const std::string disagreement = own::amx_disagreement();
  return disagreement.empty() ? f : without_amx(f, disagreement);
}

}  // namespace

CpuFeatures without_amx(CpuFeatures f, const std::string& disagreement) {
  f.amx_bf16 = false;
  f.limited = true;  // oneDNN keeps off it too
  f.warning = "AMX is not used: " + disagreement;
  return f;
}

const CpuFeatures& cpu() {
  static const CpuFeatures features = detect();
  return features;
}

std::string cpu_text(const CpuFeatures& f) {
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (has) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(f.avx2, "avx2");
  add(f.avx512, "avx512");
  add(f.avx512_bf16, "avx512_bf16");
  add(f.amx_bf16, "amx_bf16");
  if (text.empty()) text = "baseline";
  return f.warning.empty() ? text : text + " (" + f.warning + ")";
}

}  // namespace radl::engine

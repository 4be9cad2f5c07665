#include "common/crc32c.h"

#include <array>
#include <cstring>

namespace radl {
namespace {

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c & 1 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

uint32_t plain(uint32_t crc, const char* at, size_t n) {
  for (size_t i = 0; i < n; ++i) crc = kTable[(crc ^ uint8_t(at[i])) & 255] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t hardware(uint32_t crc, const char* at, size_t n) {
  uint64_t wide = crc;
  for (; n >= 8; n -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  crc = uint32_t(wide);
  for (; n > 0; --n, ++at) crc = __builtin_ia32_crc32qi(crc, uint8_t(*at));
  return crc;
}
const bool kHardware = __builtin_cpu_supports("sse4.2");
#else
uint32_t hardware(uint32_t crc, const char* at, size_t n) { return plain(crc, at, n); }
const bool kHardware = false;
#endif

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t before) {
  const auto step = kHardware ? hardware : plain;
  return ~step(~before, bytes.data(), bytes.size());
}

}  // namespace radl

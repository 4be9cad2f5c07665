// CRC-32C (Castagnoli; RFC 3720 appendix B.4). Uses the processor's instruction if available.
#pragma once

#include <cstdint>
#include <string_view>

namespace radl {

// `before`: the result for the preceding bytes, to continue from.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace radl

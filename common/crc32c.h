// CRC-32C (Castagnoli; RFC 3720 appendix B.4), with the processor's instruction where it has one.
#pragma once

#include <cstdint>
#include <string_view>

namespace radl {

// `before`: the result over what came before, to go on.
uint32_t crc32c(std::string_view bytes, uint32_t before = 0);

}  // namespace radl

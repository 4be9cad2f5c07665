// The CRC checksums that object stores keep. Source: Amazon S3 User Guide,
// "Checking object integrity": CRC-32 (ISO-HDLC), CRC-32C (Castagnoli) and
// CRC-64/NVME.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace radl::transfer {

enum class Crc { Crc32, Crc32c, Crc64Nvme };

// `before`: the result for the preceding bytes, to continue from.
uint64_t crc_of(Crc kind, std::string_view bytes, uint64_t before = 0);
// Combines the checksums of two adjacent pieces. `second_bytes`: length of the second.
uint64_t crc_joined(Crc kind, uint64_t first, uint64_t second, uint64_t second_bytes);
// The checksum over the parts' checksums.
uint64_t crc_of_parts(Crc kind, const std::vector<uint64_t>& parts);
// Base64 of its bytes in big-endian order, as S3 writes it.
std::string crc_text(Crc kind, uint64_t crc);

}  // namespace radl::transfer

// Checksums of object stores. S3: CRC-32C for uploads; for downloads, the checksum that the object was stored
// with (crc.h, SHA-1, SHA-256). Azure and Swift: MD5. Google: CRC-32C. Source: Amazon S3 User Guide,
// "Checking object integrity".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/crc32c.h"
#include "common/http/http.h"
#include "common/status.h"
#include "common/transfer/crc.h"

namespace radl::transfer {

inline constexpr char kChecksumHeader[] = "x-amz-checksum-crc32c";

// Headers that send a checksum along: the store rejects other bytes, and keeps it with the object.
http::Headers checksum_headers(uint32_t crc);
// Base64 of the four bytes in big-endian order, as S3 writes it.
std::string checksum_text(uint32_t crc);
std::string md5_base64(std::string_view bytes);

// A store's checksum of a whole object.
struct StoredChecksum {
  enum class Kind { None, Crc, Md5, Sha1, Sha256 } kind = Kind::None;
  Crc crc = Crc::Crc32c;  // of Kind::Crc
  std::string value;      // base64
  int parts = 0;          // > 0: computed over the checksums of this many parts; 0: over the bytes
};
StoredChecksum checksum_of(const http::Headers& headers);

// Corrupt: the bytes do not match the object. Ok if there is no checksum.
Status check_bytes(const StoredChecksum& stored, std::string_view bytes);
// `part_bytes`: length of the parts, if the checksum is over the concatenated hexadecimal MD5s of parts.
Status check_file(const StoredChecksum& stored, const std::string& path, uint64_t part_bytes = 0);
// Base64 of the MD5 of a range of a file.
Result<std::string> md5_of_file(const std::string& path, uint64_t first, uint64_t count);

// CRC-32C of a range of a file.
Result<uint32_t> crc32c_file(const std::string& path, uint64_t first, uint64_t count);

}  // namespace radl::transfer

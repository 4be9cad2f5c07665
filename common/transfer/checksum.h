// Checksums of object stores. S3's: CRC-32C of what we send; of what we get, what the object was stored with
// (crc.h, SHA-1, SHA-256). MD5 is Azure's and Swift's, CRC-32C Google's. Source: Amazon S3 User Guide,
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

// The headers that send a checksum along: the store refuses other bytes, and keeps it with the object.
http::Headers checksum_headers(uint32_t crc);
// Base64 of the four bytes, highest first, as S3 writes it.
std::string checksum_text(uint32_t crc);
std::string md5_base64(std::string_view bytes);

// What a store says of a whole object.
struct StoredChecksum {
  enum class Kind { None, Crc, Md5, Sha1, Sha256 } kind = Kind::None;
  Crc crc = Crc::Crc32c;  // of Kind::Crc
  std::string value;      // base64
  int parts = 0;          // > 0: of the checksums of so many parts, one after the other; 0: of the bytes
};
StoredChecksum checksum_of(const http::Headers& headers);

// Corrupt: these bytes are not the object. Ok as well where there is nothing to compare with.
Status check_bytes(const StoredChecksum& stored, std::string_view bytes);
// `part_bytes`: how long the parts are whose MD5s, in hexadecimal one after the other, the checksum is of.
Status check_file(const StoredChecksum& stored, const std::string& path, uint64_t part_bytes = 0);
// Base64 of the MD5 of a part of a file.
Result<std::string> md5_of_file(const std::string& path, uint64_t first, uint64_t count);

// CRC-32C of a part of a file.
Result<uint32_t> crc32c_file(const std::string& path, uint64_t first, uint64_t count);

}  // namespace radl::transfer

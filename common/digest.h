// SHA-256, HMAC-SHA-256, base64, hex and random bytes, over OpenSSL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl {

// Lower-case hex of SHA-256 (FIPS 180-4) over the bytes.
std::string sha256_hex(std::string_view bytes);
// 32 raw bytes of HMAC-SHA-256 (RFC 2104).
std::string hmac_sha256(std::string_view key, std::string_view bytes);
std::string to_hex(std::string_view bytes);
Result<std::string> from_hex(std::string_view hex);
std::string base64_encode(std::string_view bytes);
Result<std::string> base64_decode(std::string_view text);
// n bytes from the system's random source.
std::string random_bytes(size_t n);
// Compares in constant time.
bool equal_secret(std::string_view a, std::string_view b);

// Computes the hash of data that arrives in pieces.
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  void update(std::string_view bytes);
  std::string finish_hex();  // call once

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// SHA-256 of a file's content. Reads the file in chunks.
Result<std::string> sha256_file(const std::string& path);

}  // namespace radl

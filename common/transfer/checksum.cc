#include "common/transfer/checksum.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "common/digest.h"
#include "common/files.h"

namespace radl::transfer {
namespace {

std::string big_endian(uint32_t crc) {
  return {char(crc >> 24), char(crc >> 16 & 255), char(crc >> 8 & 255), char(crc & 255)};
}

Status wrong_checksum(const StoredChecksum& stored, const std::string& found) {
  return {Code::Corrupt, "its checksum is " + found + ", the store's is " + stored.value};
}

// Multiplication of polynomials over GF(2) modulo CRC-32C's, bits reversed as the checksum has them.
uint32_t times(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (uint32_t bit = 0x80000000u; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? (b >> 1) ^ 0x82f63b78u : b >> 1;
  }
  return product;
}

// x to the power 8n.
uint32_t power_of_bytes(uint64_t n) {
  uint32_t result = 0x80000000u, factor = 0x00800000u;  // 1 and x^8
  for (; n > 0; n >>= 1) {
    if (n & 1) result = times(result, factor);
    factor = times(factor, factor);
  }
  return result;
}

}  // namespace

http::Headers checksum_headers(uint32_t crc) {
  return {{kChecksumHeader, checksum_text(crc)}, {"x-amz-sdk-checksum-algorithm", "CRC32C"}};
}

std::string checksum_text(uint32_t crc) { return base64_encode(big_endian(crc)); }

std::string md5_base64(std::string_view bytes) {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), sum, &size, EVP_md5(), nullptr) != 1) return {};
  return base64_encode({reinterpret_cast<const char*>(sum), size});
}

StoredChecksum checksum_of(const http::Headers& headers) {
  StoredChecksum stored;
  bool of_parts = false;
  for (const auto& [name, value] : headers) of_parts |= name == "x-amz-checksum-type" && value == "COMPOSITE";
  for (const auto& [name, value] : headers) {
    if (name == kChecksumHeader) {
      stored.kind = StoredChecksum::Kind::Crc32c;
    } else if (name == "x-amz-checksum-sha256") {
      stored.kind = StoredChecksum::Kind::Sha256;
    } else {
      continue;
    }
    const size_t dash = value.find('-');
    stored.value = value.substr(0, dash);
    stored.parts = dash == std::string::npos ? 0 : std::atoi(value.c_str() + dash + 1);
    // Of parts, and not of how many: nothing that could be compared.
    return of_parts && stored.parts <= 0 ? StoredChecksum() : stored;
  }
  return stored;
}

Status check_bytes(const StoredChecksum& stored, std::string_view bytes) {
  if (stored.kind == StoredChecksum::Kind::None || stored.parts > 0) return {};
  std::string found;
  if (stored.kind == StoredChecksum::Kind::Crc32c) {
    found = checksum_text(crc32c(bytes));
  } else {
    auto raw = from_hex(sha256_hex(bytes));
    if (!raw.ok()) return raw.status();
    found = base64_encode(*raw);
  }
  return found == stored.value ? Status() : wrong_checksum(stored, found);
}

Status check_file(const StoredChecksum& stored, const std::string& path) {
  if (stored.kind == StoredChecksum::Kind::None || stored.parts > 0) return {};
  std::string found;
  if (stored.kind == StoredChecksum::Kind::Crc32c) {
    auto crc = crc32c_file(path, 0, UINT64_MAX);
    if (!crc.ok()) return crc.status();
    found = checksum_text(*crc);
  } else {
    auto hex = sha256_file(path);
    if (!hex.ok()) return hex.status();
    auto raw = from_hex(*hex);
    if (!raw.ok()) return raw.status();
    found = base64_encode(*raw);
  }
  return found == stored.value ? Status() : wrong_checksum(stored, found);
}

uint32_t crc32c_joined(uint32_t first, uint32_t second, uint64_t second_bytes) {
  return times(power_of_bytes(second_bytes), first) ^ second;
}

uint32_t crc32c_of_parts(const std::vector<uint32_t>& parts) {
  std::string bytes;
  for (uint32_t part : parts) bytes += big_endian(part);
  return crc32c(bytes);
}

Result<uint32_t> crc32c_file(const std::string& path, uint64_t first, uint64_t count) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, path);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd, [](const int* d) { ::close(*d); });
  std::string buffer(size_t{1} << 20, '\0');
  uint32_t crc = 0;
  for (uint64_t done = 0; done < count;) {
    const size_t want = size_t(std::min<uint64_t>(buffer.size(), count - done));
    const ssize_t n = ::pread(fd, buffer.data(), want, off_t(first + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status(errno, path);
    if (n == 0) {
      if (count == UINT64_MAX) break;
      return Status(Code::Conflict, path + ": has become shorter");
    }
    crc = crc32c({buffer.data(), size_t(n)}, crc);
    done += uint64_t(n);
  }
  return crc;
}

}  // namespace radl::transfer

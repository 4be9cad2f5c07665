#include "common/transfer/crc.h"

#include <zlib.h>

#include <array>
#include <cstring>

#include "common/crc32c.h"
#include "common/digest.h"

namespace radl::transfer {
namespace {

// The polynomials with the highest power in the lowest bit, as the checksums have them, and where x^0 is.
struct Field {
  uint64_t polynomial, one;
  int bytes;
};

Field field_of(Crc kind) {
  switch (kind) {
    case Crc::Crc32:
      return {0xedb88320u, uint64_t{1} << 31, 4};
    case Crc::Crc32c:
      return {0x82f63b78u, uint64_t{1} << 31, 4};
    case Crc::Crc64Nvme:
      break;
  }
  return {0x9a6c9329ac4bc9b5u, uint64_t{1} << 63, 8};
}

// Multiplication of polynomials over GF(2) modulo the checksum's.
uint64_t times(const Field& field, uint64_t a, uint64_t b) {
  uint64_t product = 0;
  for (uint64_t bit = field.one; bit != 0; bit >>= 1) {
    if (a & bit) product ^= b;
    b = b & 1 ? (b >> 1) ^ field.polynomial : b >> 1;
  }
  return product;
}

// x to the power 8n.
uint64_t power_of_bytes(const Field& field, uint64_t n) {
  uint64_t result = field.one, factor = field.one >> 8;
  for (; n > 0; n >>= 1) {
    if (n & 1) result = times(field, result, factor);
    factor = times(field, factor, factor);
  }
  return result;
}

using Tables = std::array<std::array<uint64_t, 256>, 8>;

// tables[k][b]: the contribution of byte b followed by k zero bytes.
Tables make_tables(uint64_t polynomial) {
  Tables tables{};
  for (uint64_t byte = 0; byte < 256; ++byte) {
    uint64_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ polynomial : crc >> 1;
    tables[0][byte] = crc;
  }
  for (size_t k = 1; k < tables.size(); ++k)
    for (size_t byte = 0; byte < 256; ++byte)
      tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 255];
  return tables;
}

// Eight bytes at a time.
uint64_t crc64_nvme(std::string_view bytes, uint64_t before) {
  static const Tables tables = make_tables(field_of(Crc::Crc64Nvme).polynomial);
  uint64_t crc = ~before;
  const char* at = bytes.data();
  size_t left = bytes.size();
  for (; left >= 8; at += 8, left -= 8) {
    uint64_t eight = 0;
    std::memcpy(&eight, at, sizeof eight);
    crc ^= eight;  // little-endian, as all that radlc runs on
    uint64_t next = 0;
    for (size_t k = 0; k < 8; ++k) next ^= tables[7 - k][(crc >> (8 * k)) & 255];
    crc = next;
  }
  for (; left > 0; ++at, --left) crc = (crc >> 8) ^ tables[0][(crc ^ static_cast<unsigned char>(*at)) & 255];
  return ~crc;
}

std::string big_endian(Crc kind, uint64_t crc) {
  std::string bytes;
  for (int k = field_of(kind).bytes; k-- > 0;) bytes += static_cast<char>(crc >> (8 * k) & 255);
  return bytes;
}

}  // namespace

uint64_t crc_of(Crc kind, std::string_view bytes, uint64_t before) {
  switch (kind) {
    case Crc::Crc32:
      return ::crc32_z(before, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    case Crc::Crc32c:
      return crc32c(bytes, static_cast<uint32_t>(before));
    case Crc::Crc64Nvme:
      break;
  }
  return crc64_nvme(bytes, before);
}

uint64_t crc_joined(Crc kind, uint64_t first, uint64_t second, uint64_t second_bytes) {
  const Field field = field_of(kind);
  return times(field, power_of_bytes(field, second_bytes), first) ^ second;
}

uint64_t crc_of_parts(Crc kind, const std::vector<uint64_t>& parts) {
  std::string bytes;
  for (uint64_t part : parts) bytes += big_endian(kind, part);
  return crc_of(kind, bytes);
}

std::string crc_text(Crc kind, uint64_t crc) { return base64_encode(big_endian(kind, crc)); }

}  // namespace radl::transfer

#include "common/transfer/checksum.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "common/digest.h"
#include "common/files.h"

namespace radl::transfer {
namespace {

Status wrong_checksum(const StoredChecksum& stored, const std::string& found) {
  return {Code::Corrupt, "its checksum is " + found + ", the store's is " + stored.value};
}

struct Kept {
  std::string_view header;
  StoredChecksum::Kind kind;
  Crc crc;
};
constexpr Kept kKept[] = {{"x-amz-checksum-crc64nvme", StoredChecksum::Kind::Crc, Crc::Crc64Nvme},
                          {kChecksumHeader, StoredChecksum::Kind::Crc, Crc::Crc32c},
                          {"x-amz-checksum-crc32", StoredChecksum::Kind::Crc, Crc::Crc32},
                          {"x-amz-checksum-sha256", StoredChecksum::Kind::Sha256, Crc::Crc32c},
                          {"x-amz-checksum-sha1", StoredChecksum::Kind::Sha1, Crc::Crc32c}};

const EVP_MD* digest_of(StoredChecksum::Kind kind) {
  if (kind == StoredChecksum::Kind::Md5) return EVP_md5();
  return kind == StoredChecksum::Kind::Sha1 ? EVP_sha1() : EVP_sha256();
}

// Takes a file's or text's bytes piece by piece; the whole's checksum as the store writes it.
class Summing {
 public:
  explicit Summing(const StoredChecksum& stored)
      : stored_(stored), digest_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (stored.kind == StoredChecksum::Kind::Crc) return;
    fine_ = digest_ && EVP_DigestInit_ex(digest_.get(), digest_of(stored.kind), nullptr) == 1;
  }
  void add(std::string_view bytes) {
    if (stored_.kind == StoredChecksum::Kind::Crc)
      crc_ = crc_of(stored_.crc, bytes, crc_);
    else
      fine_ = fine_ && EVP_DigestUpdate(digest_.get(), bytes.data(), bytes.size()) == 1;
  }
  // The raw bytes; "" where OpenSSL cannot make it.
  std::string digest() {
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    fine_ = fine_ && EVP_DigestFinal_ex(digest_.get(), sum, &size) == 1;
    return fine_ ? std::string(reinterpret_cast<const char*>(sum), size) : std::string();
  }
  Status compare() {
    std::string found = crc_text(stored_.crc, crc_);
    if (stored_.kind != StoredChecksum::Kind::Crc) {
      const std::string sum = digest();
      if (sum.empty()) return internal_error("OpenSSL cannot make the digest");
      found = base64_encode(sum);
    }
    return found == stored_.value ? Status() : wrong_checksum(stored_, found);
  }

 private:
  const StoredChecksum& stored_;
  uint64_t crc_ = 0;
  bool fine_ = true;
  std::unique_ptr<EVP_MD_CTX, void (*)(EVP_MD_CTX*)> digest_;
};

// Calls `take` for a part of a file, in pieces.
template <class Take>
Status each_piece(const std::string& path, uint64_t first, uint64_t count, Take take) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_status(errno, path);
  const std::unique_ptr<const int, void (*)(const int*)> closer(&fd, [](const int* d) { ::close(*d); });
  std::string buffer(size_t{1} << 20, '\0');
  for (uint64_t done = 0; done < count;) {
    const size_t want = size_t(std::min<uint64_t>(buffer.size(), count - done));
    const ssize_t n = ::pread(fd, buffer.data(), want, off_t(first + done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno_status(errno, path);
    if (n == 0) {
      if (count == UINT64_MAX) break;
      return Status(Code::Conflict, path + " became shorter while it was read");
    }
    take(std::string_view(buffer.data(), size_t(n)));
    done += uint64_t(n);
  }
  return {};
}

}  // namespace

http::Headers checksum_headers(uint32_t crc) {
  return {{kChecksumHeader, checksum_text(crc)}, {"x-amz-sdk-checksum-algorithm", "CRC32C"}};
}

std::string checksum_text(uint32_t crc) { return crc_text(Crc::Crc32c, crc); }

std::string md5_base64(std::string_view bytes) {
  unsigned char sum[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), sum, &size, EVP_md5(), nullptr) != 1) return {};
  return base64_encode({reinterpret_cast<const char*>(sum), size});
}

StoredChecksum checksum_of(const http::Headers& headers) {
  StoredChecksum stored;
  // Servers that do not say of what it is, of an upload in parts ("...-7"), may mean the parts.
  bool of_parts = false, typed = false, in_parts = false;
  for (const auto& [name, value] : headers) {
    typed |= name == "x-amz-checksum-type";
    of_parts |= name == "x-amz-checksum-type" && value == "COMPOSITE";
    in_parts |= name == "etag" && value.find('-') != std::string::npos;
  }
  of_parts |= in_parts && !typed;
  for (const Kept& kept : kKept) {
    for (const auto& [name, value] : headers) {
      if (name != kept.header) continue;
      stored.kind = kept.kind;
      stored.crc = kept.crc;
      const size_t dash = value.find('-');
      stored.value = value.substr(0, dash);
      stored.parts = dash == std::string::npos ? 0 : std::atoi(value.c_str() + dash + 1);
      // Of parts, and not of how many: nothing that could be compared.
      return of_parts && stored.parts <= 0 ? StoredChecksum() : stored;
    }
  }
  return stored;
}

Status check_bytes(const StoredChecksum& stored, std::string_view bytes) {
  if (stored.kind == StoredChecksum::Kind::None || stored.parts > 0) return {};
  Summing sum(stored);
  sum.add(bytes);
  return sum.compare();
}

Result<std::string> md5_of_file(const std::string& path, uint64_t first, uint64_t count) {
  const StoredChecksum kind{StoredChecksum::Kind::Md5, Crc::Crc32c, "", 0};
  Summing sum(kind);
  Status read = each_piece(path, first, count, [&](std::string_view piece) { sum.add(piece); });
  if (!read.ok()) return read;
  const std::string made = sum.digest();
  return made.empty() ? Result<std::string>(internal_error("OpenSSL cannot make the digest"))
                      : base64_encode(made);
}

namespace {

Status check_parts(const StoredChecksum& stored, const std::string& path, uint64_t part_bytes) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(path, error);
  if (error) return errno_status(error.value(), path);
  std::string sums;
  for (uint64_t at = 0; at < size; at += part_bytes) {
    auto sum = md5_of_file(path, at, std::min(part_bytes, size - at));
    if (!sum.ok()) return sum.status();
    sums += to_hex(base64_decode(*sum).value());
  }
  const std::string whole = md5_base64(sums);
  return whole == stored.value ? Status() : wrong_checksum(stored, whole);
}

}  // namespace

Status check_file(const StoredChecksum& stored, const std::string& path, uint64_t part_bytes) {
  if (stored.kind == StoredChecksum::Kind::Md5 && stored.parts > 0 && part_bytes > 0)
    return check_parts(stored, path, part_bytes);
  if (stored.kind == StoredChecksum::Kind::None || stored.parts > 0) return {};
  Summing sum(stored);
  Status read = each_piece(path, 0, UINT64_MAX, [&](std::string_view piece) { sum.add(piece); });
  return read.ok() ? sum.compare() : read;
}

Result<uint32_t> crc32c_file(const std::string& path, uint64_t first, uint64_t count) {
  uint32_t crc = 0;
  Status read = each_piece(path, first, count, [&](std::string_view piece) { crc = crc32c(piece, crc); });
  if (!read.ok()) return read;
  return crc;
}

}  // namespace radl::transfer

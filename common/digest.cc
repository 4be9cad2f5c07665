// SHA-256 by the low-level functions: OpenSSL 3's general ones first load providers and a configuration file,
// which takes longer than all else that checking a small file does.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "common/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace radl {

struct Sha256::Impl {
  SHA256_CTX context;
};

Sha256::Sha256() : impl_(std::make_unique<Impl>()) { SHA256_Init(&impl_->context); }
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::string_view bytes) { SHA256_Update(&impl_->context, bytes.data(), bytes.size()); }

std::string Sha256::finish_hex() {
  unsigned char out[SHA256_DIGEST_LENGTH];
  SHA256_Final(out, &impl_->context);
  return to_hex({reinterpret_cast<char*>(out), sizeof out});
}

std::string sha256_hex(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish_hex();
}

std::string hmac_sha256(std::string_view key, std::string_view bytes) {
  unsigned char out[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
       reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), out, &size);
  return {reinterpret_cast<char*>(out), size};
}

std::string to_hex(std::string_view bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char c : bytes) {
    out += digits[c >> 4];
    out += digits[c & 15];
  }
  return out;
}

Result<std::string> from_hex(std::string_view hex) {
  auto nibble = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  if (hex.size() % 2 != 0) return invalid("hex text has an odd length");
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2) {
    int high = nibble(hex[i]), low = nibble(hex[i + 1]);
    if (high < 0 || low < 0) return invalid("hex text has a character that is not a hex digit");
    out += static_cast<char>(high << 4 | low);
  }
  return out;
}

std::string base64_encode(std::string_view bytes) {
  std::string out((bytes.size() + 2) / 3 * 4 + 1, '\0');
  int size =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

Result<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return invalid("base64 text has a wrong length");
  std::string out(text.size() / 4 * 3 + 1, '\0');
  int size =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (size < 0) return invalid("text is not base64");
  size_t padding = 0;
  while (padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  if (padding > 2) return invalid("text is not base64");
  out.resize(static_cast<size_t>(size) - padding);
  return out;
}

// The kernel's own, which OpenSSL's comes from: a run that needs nothing else of that library does not load
// it.
std::string random_bytes(size_t n) {
  std::string out(n, '\0');
  for (size_t made = 0; made < n;) {
    const ssize_t got = ::getrandom(out.data() + made, n - made, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) std::abort();  // without randomness no key or token is safe
    made += static_cast<size_t>(got);
  }
  return out;
}

bool equal_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Result<std::string> sha256_file(const std::string& path) {
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file)
    return Status(errno == ENOENT ? Code::NotFound : Code::Invalid, path + ": " + std::strerror(errno));
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) hash.update({buffer.data(), n});
  if (std::ferror(file.get())) return Status(Code::Retry, path + ": cannot be read");
  return hash.finish_hex();
}

}  // namespace radl

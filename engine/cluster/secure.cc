#include "engine/cluster/secure.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <sys/stat.h>

#include <cassert>
#include <cstdlib>
#include <cstring>

#include "common/digest.h"
#include "common/files.h"

namespace radl::engine::cluster {
namespace {

constexpr std::string_view kMagic = "RADLw\x04\r\n";  // 8 bytes; the 6th is the wire version
static_assert(kMagic[5] == kWireVersion);
constexpr size_t kNonceAt = 16, kPublicAt = 48, kPublicSize = 32;

struct PkeyFree {
  void operator()(EVP_PKEY* p) const { EVP_PKEY_free(p); }
  void operator()(EVP_PKEY_CTX* p) const { EVP_PKEY_CTX_free(p); }
};
using Pkey = std::unique_ptr<EVP_PKEY, PkeyFree>;
using PkeyContext = std::unique_ptr<EVP_PKEY_CTX, PkeyFree>;

// OpenSSL fails here only when it is broken or out of memory; a link must not go on unprotected then.
void must(bool ok) {
  if (!ok) std::abort();
}

Pkey make_key() {
  EVP_PKEY* key = nullptr;
  PkeyContext context(EVP_PKEY_CTX_new_id(EVP_PKEY_X25519, nullptr));
  must(context && EVP_PKEY_keygen_init(context.get()) == 1 && EVP_PKEY_keygen(context.get(), &key) == 1);
  return Pkey(key);
}

std::string hello_bytes(const Identity& self, EVP_PKEY* key) {
  std::string out(kHelloSize, '\0');
  std::memcpy(out.data(), kMagic.data(), kMagic.size());
  out[8] = static_cast<char>(self.role);
  std::memcpy(out.data() + 12, &self.index, 4);
  std::string nonce = random_bytes(32);
  std::memcpy(out.data() + kNonceAt, nonce.data(), 32);
  size_t size = kPublicSize;
  must(EVP_PKEY_get_raw_public_key(key, reinterpret_cast<unsigned char*>(out.data() + kPublicAt), &size) ==
       1);
  return out;
}

Result<Identity> read_hello(std::string_view bytes) {
  assert(bytes.size() == kHelloSize);
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    bool ours = bytes.substr(0, 5) == kMagic.substr(0, 5);
    return Status(Code::Corrupt,
                  ours ? fmt::format("speaks wire version {}, this program version {}",
                                     static_cast<int>(static_cast<unsigned char>(bytes[5])), kWireVersion)
                       : std::string("does not speak the protocol of a training job"));
  }
  Identity peer;
  uint8_t role = static_cast<uint8_t>(bytes[8]);
  if (role > static_cast<uint8_t>(Role::Worker) || bytes.substr(9, 3) != std::string_view("\0\0\0", 3)) {
    return Status(Code::Corrupt, "names a role that does not exist");
  }
  peer.role = static_cast<Role>(role);
  std::memcpy(&peer.index, bytes.data() + 12, 4);
  return peer;
}

std::string proof_of(std::string_view key, std::string_view side, std::string_view transcript) {
  return hmac_sha256(
      key, std::string("radl wire 1 proof of ") + std::string(side) + '\0' + std::string(transcript));
}

// "" when the peer's public key is none (of small order).
std::string shared_secret(EVP_PKEY* own, std::string_view hello) {
  Pkey other(EVP_PKEY_new_raw_public_key(EVP_PKEY_X25519, nullptr,
                                         reinterpret_cast<const unsigned char*>(hello.data() + kPublicAt),
                                         kPublicSize));
  PkeyContext context(EVP_PKEY_CTX_new(own, nullptr));
  unsigned char secret[32];
  size_t size = sizeof secret;
  if (!other || !context || EVP_PKEY_derive_init(context.get()) != 1 ||
      EVP_PKEY_derive_set_peer(context.get(), other.get()) != 1 ||
      EVP_PKEY_derive(context.get(), secret, &size) != 1) {
    return "";
  }
  std::string out(reinterpret_cast<char*>(secret), size);
  OPENSSL_cleanse(secret, sizeof secret);
  return out;
}

// HKDF-SHA-256 (RFC 5869).
std::string hkdf(std::string secret, std::string salt, std::string info, size_t size) {
  std::unique_ptr<EVP_KDF, void (*)(EVP_KDF*)> kdf(EVP_KDF_fetch(nullptr, "HKDF", nullptr), EVP_KDF_free);
  must(kdf != nullptr);
  std::unique_ptr<EVP_KDF_CTX, void (*)(EVP_KDF_CTX*)> context(EVP_KDF_CTX_new(kdf.get()), EVP_KDF_CTX_free);
  char digest[] = "SHA256";
  OSSL_PARAM params[] = {OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest, 0),
                         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
                         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, salt.data(), salt.size()),
                         OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, info.data(), info.size()),
                         OSSL_PARAM_construct_end()};
  std::string out(size, '\0');
  must(context &&
       EVP_KDF_derive(context.get(), reinterpret_cast<unsigned char*>(out.data()), size, params) == 1);
  OPENSSL_cleanse(secret.data(), secret.size());
  return out;
}

SessionCiphers derive(std::string_view key, const std::string& shared, const std::string& transcript,
                      bool client, Identity peer) {
  Sha256 hash;
  hash.update(transcript);
  std::string salt = hash.finish_hex();
  std::string up = hkdf(shared + std::string(key), salt, "radl wire 1 client to server", 44);
  std::string down = hkdf(shared + std::string(key), salt, "radl wire 1 server to client", 44);
  auto cipher = [](const std::string& material, bool seals) {
    return std::make_unique<RecordCipher>(std::string_view(material).substr(0, 32),
                                          std::string_view(material).substr(32), seals);
  };
  SessionCiphers out;
  out.send = cipher(client ? up : down, true);
  out.receive = cipher(client ? down : up, false);
  out.peer = peer;
  return out;
}

}  // namespace

struct RecordCipher::Impl {
  EVP_CIPHER_CTX* context = EVP_CIPHER_CTX_new();
  unsigned char iv[12];
  uint64_t counter = 0;
  bool seals;
  ~Impl() { EVP_CIPHER_CTX_free(context); }
};

RecordCipher::RecordCipher(std::string_view key32, std::string_view iv12, bool seals)
    : impl_(std::make_unique<Impl>()) {
  assert(key32.size() == 32 && iv12.size() == 12);
  std::memcpy(impl_->iv, iv12.data(), 12);
  impl_->seals = seals;
  const unsigned char* key = reinterpret_cast<const unsigned char*>(key32.data());
  must(EVP_CipherInit_ex(impl_->context, EVP_aes_256_gcm(), nullptr, key, nullptr, seals ? 1 : 0) == 1);
}

RecordCipher::~RecordCipher() = default;

void RecordCipher::start() {
  unsigned char nonce[12];
  std::memcpy(nonce, impl_->iv, 12);
  for (int i = 0; i < 8; ++i) nonce[4 + i] ^= static_cast<unsigned char>(impl_->counter >> (8 * i));
  ++impl_->counter;
  must(EVP_CipherInit_ex(impl_->context, nullptr, nullptr, nullptr, nonce, -1) == 1);
}

void RecordCipher::seal(std::string_view first, std::string_view second, char* out) {
  size_t size = first.size() + second.size();
  assert(impl_->seals && size >= 1 && size <= kRecordSize);
  uint32_t length = static_cast<uint32_t>(size + 16);
  std::memcpy(out, &length, 4);
  start();
  unsigned char* to = reinterpret_cast<unsigned char*>(out);
  int n = 0;
  must(EVP_CipherUpdate(impl_->context, nullptr, &n, to, 4) == 1);  // the length is authenticated as well
  to += 4;
  for (std::string_view piece : {first, second}) {
    if (piece.empty()) continue;
    must(EVP_CipherUpdate(impl_->context, to, &n, reinterpret_cast<const unsigned char*>(piece.data()),
                          static_cast<int>(piece.size())) == 1);
    to += n;
  }
  must(EVP_CipherFinal_ex(impl_->context, to, &n) == 1);
  must(EVP_CIPHER_CTX_ctrl(impl_->context, EVP_CTRL_GCM_GET_TAG, 16, to) == 1);
}

Result<size_t> RecordCipher::body_size(const char length[4]) {
  uint32_t size;
  std::memcpy(&size, length, 4);
  if (size < 17 || size > kRecordSize + 16)
    return Status(Code::Corrupt, fmt::format("a record of {} bytes", size));
  return static_cast<size_t>(size);
}

Status RecordCipher::open(std::string_view body, char* out) {
  assert(!impl_->seals);
  if (body.size() < 17 || body.size() > kRecordSize + 16)
    return {Code::Corrupt, "a record of impossible size"};
  uint32_t length = static_cast<uint32_t>(body.size());
  size_t size = body.size() - 16;
  start();
  int n = 0;
  unsigned char tag[16];
  std::memcpy(tag, body.data() + size, 16);
  unsigned char* to = reinterpret_cast<unsigned char*>(out);
  must(EVP_CipherUpdate(impl_->context, nullptr, &n, reinterpret_cast<unsigned char*>(&length), 4) == 1);
  must(EVP_CipherUpdate(impl_->context, to, &n, reinterpret_cast<const unsigned char*>(body.data()),
                        static_cast<int>(size)) == 1);
  must(EVP_CIPHER_CTX_ctrl(impl_->context, EVP_CTRL_GCM_SET_TAG, 16, tag) == 1);
  if (EVP_CipherFinal_ex(impl_->context, to + n, &n) != 1) {
    return {Code::Auth, "a record that was changed, repeated or left out on its way"};
  }
  return {};
}

struct ClientHandshake::Impl {
  std::string key, hello;
  Identity self;
  Pkey own = make_key();
};

ClientHandshake::ClientHandshake(std::string key, Identity self) : impl_(std::make_unique<Impl>()) {
  impl_->key = std::move(key);
  impl_->self = self;
  impl_->hello = hello_bytes(self, impl_->own.get());
}
ClientHandshake::~ClientHandshake() { OPENSSL_cleanse(impl_->key.data(), impl_->key.size()); }

std::string ClientHandshake::hello() { return impl_->hello; }

Result<SessionCiphers> ClientHandshake::finish(std::string_view server_hello, std::string& proof) {
  assert(server_hello.size() == kServerHelloSize);
  std::string_view hello = server_hello.substr(0, kHelloSize);
  Result<Identity> peer = read_hello(hello);
  if (!peer) return std::move(peer).status();
  std::string transcript = impl_->hello + std::string(hello);
  if (!equal_secret(proof_of(impl_->key, "server", transcript), server_hello.substr(kHelloSize))) {
    return Status(Code::Auth, "does not have this job's key");
  }
  std::string shared = shared_secret(impl_->own.get(), hello);
  if (shared.empty()) return Status(Code::Corrupt, "sent an invalid public key");
  proof = proof_of(impl_->key, "client", transcript);
  return derive(impl_->key, shared, transcript, true, *peer);
}

struct ServerHandshake::Impl {
  std::string key, transcript, client_hello;
  Identity self, peer;
  Pkey own = make_key();
};

ServerHandshake::ServerHandshake(std::string key, Identity self) : impl_(std::make_unique<Impl>()) {
  impl_->key = std::move(key);
  impl_->self = self;
}
ServerHandshake::~ServerHandshake() { OPENSSL_cleanse(impl_->key.data(), impl_->key.size()); }

Result<std::string> ServerHandshake::answer(std::string_view client_hello) {
  assert(client_hello.size() == kHelloSize);
  Result<Identity> peer = read_hello(client_hello);
  if (!peer) return std::move(peer).status();
  impl_->peer = *peer;
  impl_->client_hello = client_hello;
  std::string own = hello_bytes(impl_->self, impl_->own.get());
  impl_->transcript = impl_->client_hello + own;
  return own + proof_of(impl_->key, "server", impl_->transcript);
}

Result<SessionCiphers> ServerHandshake::verify(std::string_view proof) {
  if (impl_->transcript.empty() || !equal_secret(proof_of(impl_->key, "client", impl_->transcript), proof)) {
    return Status(Code::Auth, "does not have this job's key");
  }
  std::string shared = shared_secret(impl_->own.get(), impl_->client_hello);
  if (shared.empty()) return Status(Code::Corrupt, "sent an invalid public key");
  return derive(impl_->key, shared, impl_->transcript, false, impl_->peer);
}

Result<std::string> read_job_key(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && (info.st_mode & 077) != 0) {
    return Status(Code::Auth, path + ": the job's key can be read by other users")
        .with_hint("chmod 600 " + path);
  }
  Result<std::string> text = read_file(path, 4096);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r' || text->back() == ' '))
    text->pop_back();
  Result<std::string> key = from_hex(*text);
  if (!key || key->size() != 32) return invalid(path + ": does not hold a key of 32 bytes in hex");
  return key;
}

}  // namespace radl::engine::cluster

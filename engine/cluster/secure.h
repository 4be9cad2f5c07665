// The handshake and the record protection of docs/wire.md: authenticated and encrypted with the job's key.
//
// Pure: bytes in, bytes out; sockets are in link_tcp. Both sides prove to know the key before any byte of the
// other is parsed beyond these fixed-size records; X25519 gives each link keys that the job's key alone does
// not reveal.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/cluster/message.h"

namespace radl::engine::cluster {

inline constexpr size_t kHelloSize = 80;  // magic, role, index, nonce, X25519 public key
inline constexpr size_t kProofSize = 32;  // HMAC-SHA-256
inline constexpr size_t kServerHelloSize = kHelloSize + kProofSize;
inline constexpr size_t kRecordSize = 128 << 10;   // most plaintext in one record
inline constexpr size_t kRecordOverhead = 4 + 16;  // length before, GCM tag behind

struct Identity {
  Role role = Role::Worker;
  uint32_t index = 0;
};

// Seals or opens the records of one direction with AES-256-GCM; the nonce is a counter that never travels, so
// that a record replayed, left out or out of order does not open.
class RecordCipher {
 public:
  RecordCipher(std::string_view key32, std::string_view iv12, bool seals);
  ~RecordCipher();
  RecordCipher(const RecordCipher&) = delete;

  // Writes length, ciphertext and tag to out, which has room for plain.size() + kRecordOverhead; 1 <= size <=
  // kRecordSize. `plain` may consist of two pieces.
  void seal(std::string_view first, std::string_view second, char* out);
  // Checks the length field of a record: how many bytes follow it. Corrupt when impossible.
  static Result<size_t> body_size(const char length[4]);
  // body = ciphertext and tag; writes body.size() - 16 bytes. Auth when it was not sealed by the other side
  // as the next record; what was written to out is then meaningless.
  Status open(std::string_view body, char* out);

 private:
  void start();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct SessionCiphers {
  std::unique_ptr<RecordCipher> send, receive;
  Identity peer;
};

// One side of the handshake:
//   client: hello() -> [peer's kServerHelloSize bytes] -> finish() gives the proof to send and the ciphers
//   server: [peer's kHelloSize bytes] -> answer() gives the bytes to send -> [kProofSize bytes] -> verify()
//   gives the ciphers
class ClientHandshake {
 public:
  ClientHandshake(std::string key, Identity self);
  ~ClientHandshake();
  std::string hello();
  // Auth when the server does not know the key, Corrupt when it speaks something else.
  Result<SessionCiphers> finish(std::string_view server_hello, std::string& proof);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

class ServerHandshake {
 public:
  ServerHandshake(std::string key, Identity self);
  ~ServerHandshake();
  Result<std::string> answer(std::string_view client_hello);
  Result<SessionCiphers> verify(std::string_view proof);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The job's key from its file: 64 hex digits. Auth when others may read the file, Invalid when it is no key.
Result<std::string> read_job_key(const std::string& path);

}  // namespace radl::engine::cluster

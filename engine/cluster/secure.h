// TLS 1.3 between two members of a job (docs/wire.md). Transforms bytes; link_tcp owns the sockets.
//
// The job's key is an external pre-shared key (RFC 8446, 9257); there are no certificates. X25519 gives each
// link keys that the job's key alone does not reveal; AES-256-GCM protects the records.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/cluster/message.h"

namespace radl::engine::cluster {

inline constexpr size_t kRecordSize = 16 << 10;           // largest plaintext of a record
inline constexpr uint64_t kKeyLife = uint64_t{64} << 30;  // plaintext bytes per key

struct Identity {
  Role role = Role::Worker;
  uint32_t index = 0;
};

// One end of a link. shake() until it is done; then seal() from one thread, feed() and open() from another.
class SecureEnd {
 public:
  // `server`: the member that this client connects to. Any other member rejects it.
  static std::unique_ptr<SecureEnd> client(std::string_view key, Identity self, Identity server,
                                           uint64_t key_life = kKeyLife);
  static std::unique_ptr<SecureEnd> server(std::string_view key, Identity self, uint64_t key_life = kKeyLife);
  virtual ~SecureEnd() = default;

  // The handshake: consumes received bytes and appends bytes to send to `out` (also on failure). A client
  // begins with an empty `in`. Ok: done, peer() is known. Retry: waits for the peer. Auth: the peer does not
  // know the key. Invalid: one side is not the member that the other expects (or, at a client, the peer has
  // another version). Corrupt: it is another protocol.
  virtual Status shake(std::string_view in, std::string& out) = 0;
  virtual Identity peer() const = 0;

  // Appends the records for `plain` to `out`. Lost: the link is broken; nothing was appended.
  virtual Status seal(std::string_view plain, std::string& out) = 0;
  virtual void feed(std::string_view in) = 0;
  // Decrypts into `to` and returns the number of bytes; 0 if no complete record has arrived. Auth: a record
  // was changed, repeated, dropped or not sealed by the peer, and the link is broken. Lost: the peer has
  // closed the link.
  virtual Result<size_t> open(char* to, size_t size) = 0;
};

// Reads the job's key from its file: 64 hex digits. Auth: other users can read the file. Invalid: it is not a
// key.
Result<std::string> read_job_key(const std::string& path);

}  // namespace radl::engine::cluster

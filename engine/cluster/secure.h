// TLS 1.3 between two members of a job (docs/wire.md): bytes in, bytes out; sockets are in link_tcp.
//
// The job's key is an external pre-shared key (RFC 8446, 9257); there are no certificates. X25519 gives each
// link keys that the job's key alone does not reveal, AES-256-GCM protects the records.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/cluster/message.h"

namespace radl::engine::cluster {

inline constexpr size_t kRecordSize = 16 << 10;           // most plaintext in one record
inline constexpr uint64_t kKeyLife = uint64_t{64} << 30;  // bytes of plaintext under one key

struct Identity {
  Role role = Role::Worker;
  uint32_t index = 0;
};

// One side of a link. shake() until it is done; then seal() from one thread and feed(), open() from another.
class SecureEnd {
 public:
  // `server`: the member to which this client connects; no other one admits it.
  static std::unique_ptr<SecureEnd> client(std::string_view key, Identity self, Identity server,
                                           uint64_t key_life = kKeyLife);
  static std::unique_ptr<SecureEnd> server(std::string_view key, Identity self, uint64_t key_life = kKeyLife);
  virtual ~SecureEnd() = default;

  // The handshake: takes what came, appends what must be sent to `out` (also when it fails). A client begins
  // with nothing in `in`. Ok: done, peer() is known; Retry: the other side is next. Auth: the other side does
  // not know the key; Invalid: it is not the member that this one expects, or the reverse (or, at a client,
  // it speaks another version); Corrupt: it speaks something else.
  virtual Status shake(std::string_view in, std::string& out) = 0;
  virtual Identity peer() const = 0;

  // Appends the records that hold `plain` to `out`. Lost: the link is broken; nothing was appended.
  virtual Status seal(std::string_view plain, std::string& out) = 0;
  virtual void feed(std::string_view in) = 0;
  // Decrypts into `to` and returns the number of bytes; 0 if no whole record has arrived yet. Auth: a record
  // was changed, repeated, left out or not sealed by the other side, and the link is broken; Lost: the other
  // side has closed the link.
  virtual Result<size_t> open(char* to, size_t size) = 0;
};

// The job's key from its file: 64 hex digits. Auth when others may read the file, Invalid when it is not a
// key.
Result<std::string> read_job_key(const std::string& path);

}  // namespace radl::engine::cluster

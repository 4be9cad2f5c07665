// A TCP socket whose every wait has an end; no protocol.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/cluster/link.h"

namespace radl::engine::dist {

// Owns a non-blocking descriptor. shut() from any thread makes calls in other threads return Lost; the
// descriptor itself is closed by the destructor only, so that its number cannot be reused under a caller.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;

  // All of it. `timeout` is for each wait without progress.
  Status write(std::string_view bytes, Milliseconds timeout);
  // Exactly size bytes. Timeout only when none of them has come; a stop in the middle is Lost.
  Status read(char* out, size_t size, Milliseconds timeout, bool started = false);
  void shut();
  int fd() const { return fd_; }

 private:
  Status wait(short events, Milliseconds timeout);
  int fd_;
  std::atomic<bool> shut_ = false;
};

struct Endpoint {
  std::string host, port;
};
Result<Endpoint> split_address(const std::string& address);

// One attempt. Retry when nobody listens there (yet) or the name does not resolve.
Result<int> connect_once(const Endpoint& endpoint, Milliseconds timeout);
Result<int> listen_at(const Endpoint& endpoint);
// "127.0.0.1:40001" of a descriptor's own or other side.
std::string own_address(int fd);
std::string peer_address(int fd);
// TCP_NODELAY, non-blocking, close-on-exec.
void tune(int fd);

}  // namespace radl::engine::dist

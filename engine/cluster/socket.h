// A TCP socket whose every wait has an end; no protocol.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/cluster/link.h"

namespace radl::engine::cluster {

// How long a call waits: for each piece of progress, or, with until(), for all of it together. Whoever has
// not proved to know the key gets the second kind only: one byte now and then must not hold a place for ever.
class Patience {
 public:
  Patience(Milliseconds each) : each_(each) {}  // NOLINT(google-explicit-constructor)
  static Patience until(Clock::time_point end) { return Patience(end); }
  Milliseconds now() const {
    auto left = std::chrono::duration_cast<Milliseconds>(end_ - Clock::now());
    return std::clamp(left, Milliseconds(0), each_);
  }

 private:
  explicit Patience(Clock::time_point end) : each_(Milliseconds::max()), end_(end) {}
  Milliseconds each_;
  Clock::time_point end_ = Clock::time_point::max();
};

// Owns a non-blocking descriptor. shut() from any thread makes calls in other threads return Lost; the
// descriptor itself is closed by the destructor only, so that its number cannot be reused under a caller.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;

  // All of it.
  Status write(std::string_view bytes, Patience patience);
  // At least one byte, at most size. Timeout when none comes; Lost instead if that is in the middle of
  // something.
  Result<size_t> read_any(char* out, size_t size, Patience patience, bool started = false);
  // Exactly size bytes. Timeout only when none of them has come; a stop in the middle is Lost.
  Status read(char* out, size_t size, Patience patience, bool started = false);
  // As many as go without waiting, 0 when none do. Lost when the connection has ended.
  Result<size_t> write_some(std::string_view bytes);
  Result<size_t> read_some(char* out, size_t size);
  void shut();
  int fd() const { return fd_; }

 private:
  // Timeout when it is over without one of the events; the text says how long that was.
  Status wait(short events, Patience patience);
  int fd_;
  std::atomic<bool> shut_ = false;
};

struct Endpoint {
  std::string host, port;
};
Result<Endpoint> split_address(const std::string& address);

// One attempt. NotFound if nobody listens there (yet), Retry if the machine does not answer or the name does
// not resolve.
Result<int> connect_once(const Endpoint& endpoint, Milliseconds timeout);
Result<int> listen_at(const Endpoint& endpoint);
// "127.0.0.1:40001" of a descriptor's own or other side.
std::string own_address(int fd);
std::string peer_address(int fd);
// TCP_NODELAY, non-blocking, close-on-exec.
void tune(int fd);

}  // namespace radl::engine::cluster

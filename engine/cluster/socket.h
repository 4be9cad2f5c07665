// A TCP socket with a limit on every wait. No protocol.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>

#include "common/status.h"
#include "engine/cluster/link.h"

namespace radl::engine::cluster {

// Time limit of a call: for each piece of progress or, with until(), for the whole call. Peers that have not
// proved to know the key get only the second kind, so they cannot hold a slot forever with single bytes.
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

// Owns a non-blocking descriptor. shut() from any thread makes calls in other threads return Lost. Only the
// destructor closes the descriptor, so that its number cannot be reused during a call.
class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(const Socket&) = delete;

  // Writes all bytes.
  Status write(std::string_view bytes, Patience patience);
  // Reads at least one byte, at most `size`. Timeout if none arrives; Lost instead in the middle of a
  // message.
  Result<size_t> read_any(char* out, size_t size, Patience patience, bool started = false);
  // Reads exactly `size` bytes. Timeout only if none has arrived; a stop in the middle is Lost.
  Status read(char* out, size_t size, Patience patience, bool started = false);
  // Transfers as many bytes as possible without waiting; may be 0. Lost if the connection has ended.
  Result<size_t> write_some(std::string_view bytes);
  Result<size_t> read_some(char* out, size_t size);
  void shut();
  int fd() const { return fd_; }

 private:
  // Timeout if none of the events occurs in time; the message gives the duration.
  Status wait(short events, Patience patience);
  int fd_;
  std::atomic<bool> shut_ = false;
};

struct Endpoint {
  std::string host, port;
};
Result<Endpoint> split_address(const std::string& address);

// Makes one attempt. NotFound: nothing listens there (yet). Retry: the machine does not respond, or the name
// does not resolve.
Result<int> connect_once(const Endpoint& endpoint, Milliseconds timeout);
Result<int> listen_at(const Endpoint& endpoint);
// Local and remote address of a descriptor: "127.0.0.1:40001".
std::string own_address(int fd);
std::string peer_address(int fd);
// TCP_NODELAY, non-blocking, close-on-exec.
void tune(int fd);

}  // namespace radl::engine::cluster

// Locks that can be waited for until a stop.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "common/files.h"
#include "common/stop.h"

namespace radl {

inline constexpr std::chrono::milliseconds kTurnGlance{50};

// Locks the mutex. Cancelled or Timeout: `stop` came first.
inline Result<std::unique_lock<std::timed_mutex>> take_turn(std::timed_mutex& mutex, const Stop& stop) {
  std::unique_lock<std::timed_mutex> lock(mutex, std::defer_lock);
  while (!lock.try_lock_for(kTurnGlance)) {
    if (Status s = stop.check(); !s.ok()) return s;
  }
  return lock;
}

// Admits one thread of this process at a time per key, such as a folder. Other keys are independent. Frees
// the entry of a key that is neither held nor awaited.
class KeyTurn {
 public:
  // Cancelled or Timeout: `stop` came first.
  static Result<KeyTurn> take(const std::string& key, const Stop& stop = {});
  ~KeyTurn();
  KeyTurn(KeyTurn&&) noexcept = default;
  KeyTurn& operator=(KeyTurn&&) = delete;

 private:
  explicit KeyTurn(std::string key) : key_(std::move(key)) {}
  std::string key_;
  std::shared_ptr<std::timed_mutex> mutex_;
  std::unique_lock<std::timed_mutex> held_;
};

// Admits one process at a time: holds flock(2) on a file, which it creates if missing.
class FileTurn {
 public:
  // Cancelled or Timeout: `stop` came first.
  static Result<FileTurn> take(const std::string& path, const Stop& stop) {
    FileTurn turn(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (turn.fd_ < 0) return errno_status(errno, path);
    while (::flock(turn.fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return errno_status(errno, path);
      if (!stop.sleep(kTurnGlance)) return stop.check();
    }
    return turn;
  }
  ~FileTurn() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileTurn(FileTurn&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileTurn& operator=(FileTurn&&) = delete;

 private:
  explicit FileTurn(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace radl

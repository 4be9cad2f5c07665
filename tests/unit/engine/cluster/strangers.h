// Who finds a job's port and does not know its key: connections that say nothing, drip, talk rubbish, have
// another key, or come by the thousand, until the object ends.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/cluster/secure.h"
#include "engine/cluster/socket.h"

namespace radl::engine::cluster {

// The beginning of a TLS ClientHello of 512 bytes.
inline const std::string kHello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);

// More than a member sends before it is let in, and less than OpenSSL takes for a ClientHello.
inline const std::string kLongHello =
    std::string("\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03", 11) + std::string(8000, 'x');

// The whole ClientHello of a member of another job.
inline std::string hello_of_another_job() {
  std::string out;
  (void)SecureEnd::client(std::string(32, '?'), {Role::Worker, 0}, {Role::Server, 0})->shake({}, out);
  return out;
}

enum class Manner { Silent, Drips, DripsAHello, Rubbish, ComesAndGoes, AnotherKey, LongHello };

class Strangers {
 public:
  // Keeps `count` connections to the address, each of which behaves like this; one that is cut off comes
  // back.
  Strangers(const std::string& address, Manner manner, size_t count)
      : endpoint_(*split_address(address)), manner_(manner), sockets_(count), thread_([this] { run(); }) {}
  ~Strangers() {
    stopped_ = true;
    thread_.join();
  }
  uint64_t connects() const { return connects_; }
  uint64_t cut_off() const { return cut_off_; }

 private:
  void run() {
    while (!stopped_) {
      for (std::unique_ptr<Socket>& socket : sockets_) {
        if (stopped_) return;
        act(socket);
      }
      std::this_thread::sleep_for(Milliseconds(2));
    }
  }

  void act(std::unique_ptr<Socket>& socket) {
    if (!socket) {
      Result<int> fd = connect_once(endpoint_, Milliseconds(200));
      if (!fd) return;
      ++connects_;
      socket = std::make_unique<Socket>(*fd);
      if (manner_ == Manner::DripsAHello) (void)socket->write_some(kHello);
      if (manner_ == Manner::AnotherKey) (void)socket->write_some(hello_);
      if (manner_ == Manner::LongHello) (void)socket->write_some(kLongHello);
    }
    char answer[256];
    const bool drips = manner_ == Manner::Drips || manner_ == Manner::DripsAHello;
    std::string says = drips                             ? std::string(1, '\0')
                       : manner_ == Manner::Rubbish      ? std::string(100, 'x')
                       : manner_ == Manner::ComesAndGoes ? "GET /"
                                                         : "";
    bool gone = !socket->read_some(answer, sizeof answer).ok();
    if (!gone && !says.empty()) gone = !socket->write_some(says).ok();
    if (gone) ++cut_off_;
    if (gone || manner_ == Manner::ComesAndGoes) socket.reset();
  }

  Endpoint endpoint_;
  Manner manner_;
  const std::string hello_ = hello_of_another_job();
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::atomic<bool> stopped_ = false;
  std::atomic<uint64_t> connects_ = 0, cut_off_ = 0;
  std::thread thread_;
};

}  // namespace radl::engine::cluster

// Who finds a job's port and does not know its key: connections that say nothing, drip, talk rubbish, or come
// by the thousand, until the object ends.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/cluster/socket.h"

namespace radl::engine::cluster {

// The beginning of a TLS ClientHello of 512 bytes.
inline const std::string kHello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);

enum class Manner { Silent, Drips, DripsAHello, Rubbish, ComesAndGoes };

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
    }
    char answer[256];
    std::string says = manner_ == Manner::Silent         ? ""
                       : manner_ == Manner::Rubbish      ? std::string(100, 'x')
                       : manner_ == Manner::ComesAndGoes ? "GET /"
                                                         : std::string(1, '\0');
    bool gone = !socket->read_some(answer, sizeof answer).ok();
    if (!gone && !says.empty()) gone = !socket->write_some(says).ok();
    if (gone) ++cut_off_;
    if (gone || manner_ == Manner::ComesAndGoes) socket.reset();
  }

  Endpoint endpoint_;
  Manner manner_;
  std::vector<std::unique_ptr<Socket>> sockets_;
  std::atomic<bool> stopped_ = false;
  std::atomic<uint64_t> connects_ = 0, cut_off_ = 0;
  std::thread thread_;
};

}  // namespace radl::engine::cluster

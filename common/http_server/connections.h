// Limits the time of each open connection, and closes connections to make room for new ones.
//
// A client that sends a header or body slowly, or reads its answer slowly, holds memory. It is disconnected
// when its time is over, or earlier if there are too many connections. A new client is therefore always
// served.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "common/clock.h"

namespace radl::httpd {

struct ConnectionLimits {
  // Maximum number of connections, except those in progress and streams. Beyond it, the oldest unfinished one
  // is closed.
  size_t most = 256;
  double header_seconds = 15;  // for the first header; later ones may take idle_seconds
  double idle_seconds = 60;
  double body_seconds = 60;     // for each `body_step` bytes
  size_t body_step = SIZE_MAX;  // bytes of a large body after which its time starts again
  double answer_seconds = 60;   // for the client to read the answer; of a stream or a file, its next part
};

class Connections {
 public:
  explicit Connections(const ConnectionLimits& limits);
  ~Connections();

  struct Connection;
  // The socket stays open until closed().
  Connection* opened(int socket);
  void closed(Connection* connection);

  enum class Phase { Header, Idle, Body, Working, Answering, Streaming };
  // Sets the phase from now on. Working has no limit. Streaming has that of Answering.
  void set_phase(Connection* connection, Phase phase);

 private:
  SteadyClock::time_point deadline(Phase phase) const;
  void make_room(const Connection* newest);
  void cut(Connection& connection);
  void watch();

  const ConnectionLimits limits_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  std::list<Connection> all_;  // the oldest first
  bool stopping_ = false;
  std::thread watcher_;
};

}  // namespace radl::httpd

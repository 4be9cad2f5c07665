// The open connections: how long each may take for what it is at, and which one makes room for a new one.
//
// A client that sends its header or its body slowly, or reads its answer slowly, holds memory. It is cut off
// when its time is over, or earlier when there are more connections than wanted: a new client finds a place
// whatever others do.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "common/clock.h"

namespace radl::httpd {

struct ConnectionLimits {
  // But for those that are being worked on and for streams. More than that: the oldest unfinished one is cut
  // off.
  size_t most = 256;
  double header_seconds = 15;  // for a first header; a connection that had one may be idle for idle_seconds
  double idle_seconds = 60;
  double body_seconds = 60;     // for each `body_step` bytes
  size_t body_step = SIZE_MAX;  // a body that may be large: the bytes that renew its time
  double answer_seconds =
      60;  // for reading the answer, from its first byte; of a stream or a file, the next part
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
  // From now on. Working has no limit here: it ends by itself. Streaming has the time of Answering.
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

#include "common/http_server/connections.h"

#include <sys/socket.h>

#include <algorithm>

namespace radl::httpd {

namespace {

SteadyClock::time_point in_seconds(double seconds) {
  return SteadyClock::now() +
         std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(seconds));
}

}  // namespace

struct Connections::Connection {
  int socket = -1;
  Phase phase = Phase::Header;
  SteadyClock::time_point deadline{};
  bool cut = false;  // the server is about to close it
  std::list<Connection>::iterator self{};
};

Connections::Connections(const ConnectionLimits& limits) : limits_(limits), watcher_([this] { watch(); }) {}

Connections::~Connections() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stopped_.notify_all();
  watcher_.join();
}

Connections::Connection* Connections::opened(int socket) {
  std::lock_guard lock(mutex_);
  all_.push_back({socket, Phase::Header, deadline(Phase::Header)});
  all_.back().self = std::prev(all_.end());
  make_room(&all_.back());
  return &all_.back();
}

void Connections::closed(Connection* connection) {
  std::lock_guard lock(mutex_);
  all_.erase(connection->self);
}

void Connections::set_phase(Connection* connection, Phase phase) {
  std::lock_guard lock(mutex_);
  connection->phase = phase;
  connection->deadline = deadline(phase);
}

SteadyClock::time_point Connections::deadline(Phase phase) const {
  switch (phase) {
    case Phase::Header:
      return in_seconds(limits_.header_seconds);
    case Phase::Idle:
      return in_seconds(limits_.idle_seconds);
    case Phase::Body:
      return in_seconds(limits_.body_seconds);
    case Phase::Answering:
    case Phase::Streaming:
      return in_seconds(limits_.answer_seconds);
    case Phase::Working:
      break;
  }
  return SteadyClock::time_point::max();
}

// Who has asked for nothing goes first, then who is still sending, then who is slow to read its answer.
void Connections::make_room(const Connection* newest) {
  const size_t open = size_t(std::ranges::count_if(all_, [](const Connection& c) {
    return !c.cut && c.phase != Phase::Working && c.phase != Phase::Streaming;
  }));
  if (open <= limits_.most) return;
  for (const auto& phases : {std::pair(Phase::Header, Phase::Idle), std::pair(Phase::Body, Phase::Body),
                             std::pair(Phase::Answering, Phase::Answering)}) {
    for (Connection& c : all_) {
      if (c.cut || &c == newest || (c.phase != phases.first && c.phase != phases.second)) continue;
      return cut(c);
    }
  }
}

// The server sees the end of the socket and closes it.
void Connections::cut(Connection& c) {
  c.cut = true;
  ::shutdown(c.socket, SHUT_RDWR);
}

void Connections::watch() {
  std::unique_lock lock(mutex_);
  // No deadline set later lies before this.
  const double soonest =
      std::min({limits_.header_seconds, limits_.idle_seconds, limits_.body_seconds, limits_.answer_seconds});
  while (!stopping_) {
    const auto now = SteadyClock::now();
    auto next = in_seconds(soonest);
    for (Connection& c : all_) {
      if (!c.cut && c.deadline <= now) cut(c);
      if (!c.cut) next = std::min(next, c.deadline);
    }
    stopped_.wait_until(lock, next, [&] { return stopping_; });
  }
}

}  // namespace radl::httpd

// A monitored link: sends heartbeats, detects silence, and notifies waiting threads.
//
// A reader thread takes messages off the link and passes them on one by one. Heartbeats come from a
// separate thread, so a peer that is busy (computing, or waiting at a barrier) is not mistaken for a dead
// one.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "common/stop.h"
#include "engine/cluster/link.h"

namespace radl::engine::cluster {

// How long a machine may leave sent data unacknowledged: a quarter of peer_timeout, at least 2.5 s.
Milliseconds unreachable_after(Milliseconds peer_timeout);

class Session {
 public:
  // A peer is lost if it is silent for peer_timeout, or if its machine acknowledges nothing for
  // unreachable_after(). `lost` is called once, from one of the session's threads, with the reason and the
  // duration of the silence. It is not called after the peer's Leave or after close().
  using LostCall = std::function<void(const Status&, double silent_seconds)>;
  // `inbox`: number of messages to read ahead.
  Session(std::unique_ptr<Link> link, Milliseconds peer_timeout, LostCall lost = {}, size_t inbox = 4);
  ~Session();
  Session(const Session&) = delete;

  Status send(const Message& message);
  // The next message that is not a heartbeat. Timeout after `patience`; other errors: what ended the link.
  Status receive(Message& message, Milliseconds patience);
  // Like receive(), but waits as long as the peer is alive and `stop` allows.
  Status receive(Message& message, const radl::Stop& stop);
  Status health() const;          // Ok, or what ended the link
  double silent_seconds() const;  // duration of the silence when the link ended; 0 while it is open
  // True if the link ended because of silence; the peer may still run.
  bool fell_silent() const;
  void close();
  void set_limit(size_t bytes) { link_->set_limit(bytes); }
  bool may_fall_silent() const { return link_->may_fall_silent(); }
  Traffic traffic() const { return link_->traffic(); }
  Identity peer() const { return link_->peer(); }
  std::string name() const { return link_->name(); }

 private:
  void read();
  void beat();
  void end(Status status, bool fell_silent = false);

  std::unique_ptr<Link> link_;
  const Milliseconds timeout_;
  const size_t most_waiting_;
  LostCall lost_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> inbox_;
  Message spare_;  // read buffer, returned by receive()
  Status health_;
  double silent_ = 0;
  bool closing_ = false, left_ = false, fell_silent_ = false;
  std::atomic<int64_t> last_sent_, last_heard_;
  std::thread reader_, beater_;
};

}  // namespace radl::engine::cluster

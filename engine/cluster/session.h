// A link that is watched: heartbeats go out, silence is noticed, and whoever waits on it is notified.
//
// A reader thread takes messages off the link and hands them over one by one; a peer that is alive but busy
// (computing, or waiting in a barrier) is kept apart from one that is gone, since heartbeats come from a
// thread of their own.
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

// How long a machine may leave what was sent to it unacknowledged: a quarter of peer_timeout, at least 2.5 s.
Milliseconds unreachable_after(Milliseconds peer_timeout);

class Session {
 public:
  // A peer that is silent for peer_timeout is lost, and so is one whose machine acknowledges nothing for
  // unreachable_after(). `lost` is called once, from one of the session's threads,
  // with the reason and how long the peer had been silent; not for one that said Leave, nor after close().
  using LostCall = std::function<void(const Status&, double silent_seconds)>;
  // `inbox`: messages that are taken off the link before anybody asked for them.
  Session(std::unique_ptr<Link> link, Milliseconds peer_timeout, LostCall lost = {}, size_t inbox = 4);
  ~Session();
  Session(const Session&) = delete;

  Status send(const Message& message);
  // The next message that is no heartbeat. Timeout after `patience`; else what ended the link.
  Status receive(Message& message, Milliseconds patience);
  // Like receive(), without an end as long as the peer is alive and `stop` does not ask for an end.
  Status receive(Message& message, const radl::Stop& stop);
  Status health() const;          // Ok, or what ended the link
  double silent_seconds() const;  // how long nothing had been heard when the link ended; 0 while it lasts
  // The link ended because of silence: the peer may run on.
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
  Message spare_;  // a buffer to read into, given back by receive()
  Status health_;
  double silent_ = 0;
  bool closing_ = false, left_ = false, fell_silent_ = false;
  std::atomic<int64_t> last_sent_, last_heard_;
  std::thread reader_, beater_;
};

}  // namespace radl::engine::cluster

// A link: messages in order between two members of a job, whatever carries them.
//
// Two kinds behind one interface: TCP with the TLS of secure.h, and memory for members
// that live in one process (and for tests). send() may be called from several threads, receive() from one;
// close() from any thread ends both at once. No call waits longer than its timeout without a byte of
// progress; a handshake has one limit for all of it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "common/status.h"
#include "common/stop.h"
#include "engine/cluster/message.h"
#include "engine/cluster/secure.h"

namespace radl::engine::cluster {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// What has gone over a link so far, as it travels: headers and encryption included.
struct Traffic {
  uint64_t sent = 0, received = 0;  // bytes
  // Of one connection, as the kernel measured them; 0: not known. The rate only where the network was what
  // held it up.
  double round_trip_seconds = 0, bytes_per_second = 0;
};
// Of several links together: bytes add up, the longest way and the narrowest link count.
Traffic together(const Traffic& a, const Traffic& b);

class Link {
 public:
  virtual ~Link() = default;
  virtual Traffic traffic() const = 0;
  // How long the peer's machine has acknowledged nothing although something is on its way; 0: nothing is. The
  // machine acknowledges by itself, however busy the peer's process is, and also if it is stopped.
  virtual Milliseconds unacknowledged() const { return Milliseconds(0); }
  // Whether silence can mean that the peer is gone. Not so within a process: both ends stop and continue
  // together.
  virtual bool may_fall_silent() const { return true; }
  virtual Status send(const Message& message, Milliseconds timeout) = 0;
  // Timeout: nothing came in that time (the link is still good). Lost: the other side is gone. Corrupt, Auth:
  // it sent what it must not; the link is unusable.
  virtual Status receive(Message& message, Milliseconds timeout) = 0;
  virtual void close() = 0;
  // The largest message that receive() accepts; kSmallMessage at first.
  virtual void set_limit(size_t bytes) = 0;
  virtual Identity peer() const = 0;
  virtual std::string name() const = 0;  // for messages: "worker/1 at 10.0.0.3:40312"
};

class Listener {
 public:
  virtual ~Listener() = default;
  // The next who has proved to know the key. Those who have not yet go on side by side within this call,
  // which waits for none of them. Timeout when nobody came that far, Cancelled after close().
  virtual Result<std::unique_ptr<Link>> accept(Milliseconds timeout) = 0;
  // Ends accept(), which hangs up on everybody still without a link.
  virtual void close() = 0;
  virtual std::string address() const = 0;  // with the real port when 0 was asked for
};

// Two ends of a link within this process. `watched`: as if they were in two, for tests.
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> make_memory_links(Identity a, Identity b,
                                                                          bool watched = true);

// How those are treated who have not proved to know the key.
struct ListenOptions {
  Milliseconds handshake{5000};    // for the whole of it
  size_t most_pending = 128;       // handshakes at a time; one more, and the oldest gives way
  Milliseconds tell_every{10000};  // between two calls of `refused`
  // From accept(): so many were refused since the last call, and what was wrong with the last of them.
  std::function<void(uint64_t count, const std::string& last)> refused;
};

// Listens at "host:port". Conflict when the address is in use (the message names it), Invalid when it is not
// one of this computer's.
Result<std::unique_ptr<Listener>> listen_tcp(const std::string& address, std::string key, Identity self,
                                             ListenOptions options = {});

// Connects to `peer` and shakes hands, again and again until somebody listens there or `patience` is over. At
// once Auth if the other side does not know the key, and Invalid if it is not `peer` or speaks another
// version; Cancelled when `stop` asks for it.
Result<std::unique_ptr<Link>> connect_tcp(const std::string& address, std::string key, Identity self,
                                          Identity peer, Milliseconds patience, const radl::Stop& stop = {});

// The same, once. NotFound: nobody listens there, although the machine answers.
Result<std::unique_ptr<Link>> try_connect_tcp(const std::string& address, std::string key, Identity self,
                                              Identity peer, Milliseconds patience);

// One attempt to reach a server at its address in the job, like try_connect_tcp().
using Dial = std::function<Result<std::unique_ptr<Link>>(uint32_t server, Milliseconds patience)>;

}  // namespace radl::engine::cluster

// How workers find each other and make a ring.
#include <fmt/format.h>

#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include "common/digest.h"
#include "engine/cluster/expect.h"
#include "engine/cluster/ring.h"

namespace radl::engine::cluster {
namespace {

// A session on which both ends have said Hello and found that they belong together. Its heartbeats begin at
// once: the whole ring may take a while to come together.
using SessionResult = Result<std::unique_ptr<Session>>;

constexpr Milliseconds kAnswer{5000};

Hello hello_of(const RingOptions& options, const RingMember& member) {
  Hello out{Role::Worker, options.rank, 0, member.job_digest, options.parameters, options.statistics};
  std::memcpy(&out.incarnation, random_bytes(8).data(), 8);
  return out;
}

SessionResult connect_next(const RingOptions& options, const RingMember& member) {
  const uint32_t next = (options.rank + 1) % options.size;
  Result<std::unique_ptr<Link>> link =
      connect_tcp(member.addresses[next], member.key, {Role::Worker, options.rank}, {Role::Worker, next},
                  member.start_timeout, options.stop);
  if (!link) return std::move(link).status().at(fmt::format("worker/{}", next));
  std::unique_ptr<Session> session = ring_session(options, std::move(*link));
  if (Status sent = session->send(encode(hello_of(options, member))); !sent.ok()) return sent;
  Message answer;
  if (Status got = expect(*session, MessageType::Ready, answer, options.stop); !got.ok()) return got;
  return session;
}

// Why this peer does not stand before us in the ring; "" if it does.
std::string stranger(const Hello& hello, const Identity& peer, const RingOptions& options,
                     const RingMember& member) {
  const uint32_t previous = (options.rank + options.size - 1) % options.size;
  if (hello.role != peer.role || hello.index != peer.index) return "says Hello as somebody else";
  if (hello.job_digest != member.job_digest)
    return "belongs to another job, or has another version of this job's file";
  if (peer.role != Role::Worker || peer.index != previous)
    return fmt::format("is not worker/{}, which stands before worker/{}", previous, options.rank);
  if (hello.parameters != options.parameters || hello.statistics != options.statistics)
    return fmt::format("has a model of {} parameters, this member's has {}", hello.parameters,
                       options.parameters);
  return "";
}

SessionResult welcome(std::unique_ptr<Link> link, const RingOptions& options, const RingMember& member) {
  std::unique_ptr<Session> session = ring_session(options, std::move(link));
  Message message;
  Hello hello;
  Status got = session->receive(message, kAnswer);
  if (got.ok()) got = decode(message, hello);
  if (!got.ok()) return got;
  std::string why = stranger(hello, session->peer(), options, member);
  if (!why.empty()) {
    (void)session->send(encode(Refuse{static_cast<uint8_t>(Code::Invalid), why}));
    (void)session->receive(message, Milliseconds(500));  // lets it read before the link closes
    return invalid(session->name() + " " + why);
  }
  if (Status sent = session->send(Message{MessageType::Ready, {}}); !sent.ok()) return sent;
  return session;
}

// Waits for the member before. Each who knows the key says Hello beside the others: one that does not, or is
// another's neighbour, holds up nobody.
class Door {
 public:
  Door(Listener& listener, const RingOptions& options, const RingMember& member,
       const std::atomic<bool>& given_up)
      : listener_(listener), options_(options), member_(member), given_up_(given_up) {}
  ~Door() {
    for (std::thread& t : greetings_) t.join();
  }

  SessionResult wait() {
    const Clock::time_point end = Clock::now() + member_.start_timeout;
    while (Clock::now() < end) {
      if (std::unique_ptr<Session> previous = take()) return previous;
      if (given_up_ || options_.stop.asked()) return Status(Code::Cancelled, "interrupted");
      Result<std::unique_ptr<Link>> link = listener_.accept(Milliseconds(50));
      if (link.ok()) {
        greetings_.emplace_back([this, held = std::move(*link)]() mutable { greet(std::move(held)); });
      } else if (link.status().code() != Code::Timeout) {
        return std::move(link).status();
      }
    }
    return Status(Code::Timeout, fmt::format("worker/{} did not appear within {:.0f} s",
                                             (options_.rank + options_.size - 1) % options_.size,
                                             static_cast<double>(member_.start_timeout.count()) / 1000));
  }

 private:
  std::unique_ptr<Session> take() {
    std::lock_guard lock(mutex_);
    return std::move(previous_);
  }

  void greet(std::unique_ptr<Link> link) {
    SessionResult session = welcome(std::move(link), options_, member_);
    std::lock_guard lock(mutex_);
    if (session.ok()) {
      previous_ = std::move(*session);  // the latest, should it have been restarted meanwhile
    } else if (member_.refused) {
      member_.refused(1, session.status().message());
    }
  }

  Listener& listener_;
  const RingOptions& options_;
  const RingMember& member_;
  const std::atomic<bool>& given_up_;
  std::mutex mutex_;
  std::unique_ptr<Session> previous_;
  std::vector<std::thread> greetings_;
};

}  // namespace

Result<std::unique_ptr<Ring>> connect_ring(const RingOptions& options, const RingMember& member) {
  if (options.size < 2) return Ring::make(options, nullptr, nullptr);
  ListenOptions strangers;
  strangers.refused = member.refused;
  Result<std::unique_ptr<Listener>> listener = listen_tcp(member.addresses[options.rank], member.key,
                                                          {Role::Worker, options.rank}, std::move(strangers));
  if (!listener) return std::move(listener).status();
  std::atomic<bool> given_up = false;
  SessionResult previous = Status(Code::Lost, "");
  std::thread acceptor([&] { previous = Door(**listener, options, member, given_up).wait(); });
  SessionResult next = connect_next(options, member);
  if (!next) given_up = true;
  acceptor.join();
  if (!next) return std::move(next).status();
  if (!previous) return std::move(previous).status();
  return Ring::make(options, std::move(*previous), std::move(*next));
}

}  // namespace radl::engine::cluster

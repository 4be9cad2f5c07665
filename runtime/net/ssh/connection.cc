#include "runtime/net/ssh/connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/files.h"

namespace radl::ssh {
namespace {

constexpr std::chrono::milliseconds kSlice{100};  // how long a cancellation may go unnoticed
constexpr std::chrono::seconds kPause{5};         // between waits: more than that is a pause
constexpr size_t kGreeting = 64 * 1024;

// libssh2 counts its users, but the first call must not be concurrent.
void initialise_once() {
  static const int done = libssh2_init(0);
  (void)done;
}

bool means_lost(int code) {
  return code == LIBSSH2_ERROR_SOCKET_SEND || code == LIBSSH2_ERROR_SOCKET_RECV ||
         code == LIBSSH2_ERROR_SOCKET_DISCONNECT || code == LIBSSH2_ERROR_SOCKET_TIMEOUT ||
         code == LIBSSH2_ERROR_BAD_SOCKET || code == LIBSSH2_ERROR_SOCKET_NONE;
}

}  // namespace

Result<std::shared_ptr<Connection>> Connection::open(const Target& target, const Stop& stop) {
  initialise_once();
  std::shared_ptr<Connection> connection(new Connection(target));
  connection->wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (connection->wake_ < 0) return errno_status(errno, "eventfd");
  Status done = connection->connect_socket(stop);
  if (done.ok()) done = connection->handshake(stop);
  if (done.ok()) done = connection->check_host_key();
  if (done.ok()) done = connection->authenticate(stop);
  if (!done.ok()) return std::move(done).at(target.name());
  libssh2_keepalive_config(connection->session_, 1, static_cast<unsigned>(connection->ask_every().count()));
  return connection;
}

Connection::~Connection() {
  if (session_) {
    libssh2_session_set_blocking(session_, 0);
    if (!lost_) libssh2_session_disconnect(session_, "done");
    // Open channels would wait for the other side's close; without a connection nothing waits, and all of it
    // is freed.
    if (socket_ >= 0) shutdown(socket_, SHUT_RDWR);
    for (int tries = 0; tries < 100 && libssh2_session_free(session_) == LIBSSH2_ERROR_EAGAIN; tries++) {
    }
  }
  if (socket_ >= 0) close(socket_);
  if (wake_ >= 0) close(wake_);
}

// libssh2's recv callback; records when the server was last heard.
ssize_t Connection::receive(int socket, void* bytes, size_t size, int flags, void** session) {
  auto& self = *static_cast<Connection*>(*session);
  ssize_t n = recv(socket, bytes, size, flags);
  if (n < 0) return -errno;
  self.heard_ = std::chrono::steady_clock::now();
  if (self.greeting_ && self.first_bytes_.size() < kGreeting)
    self.first_bytes_.append(static_cast<const char*>(bytes), static_cast<size_t>(n));
  return n;
}

Connection::Outcome Connection::outcome_of(int code) {
  Outcome outcome{code, ""};
  if (code >= 0) return outcome;
  char* text = nullptr;
  int length = 0;
  libssh2_session_last_error(session_, &text, &length, 0);
  outcome.detail.assign(text ? text : "", text ? static_cast<size_t>(length) : 0);
  if (means_lost(code) || libssh2_session_last_errno(session_) == LIBSSH2_ERROR_SOCKET_DISCONNECT)
    lost_ = true;
  return outcome;
}

Status Connection::failure(const Outcome& outcome, std::string_view what) const {
  if (lost_) return {Code::Lost, fmt::format("{}: the connection to {} was lost", what, target_.name())};
  return {Code::Retry,
          fmt::format("{}: {}", what,
                      outcome.detail.empty() ? fmt::format("SSH error {}", outcome.code) : outcome.detail)};
}

void Connection::progress() {
  if (polling_) {
    uint64_t one = 1;
    (void)!write(wake_, &one, sizeof one);
  }
  news_.notify_all();
}

std::chrono::seconds Connection::ask_every() const {
  return std::max(std::chrono::seconds(1), target_.answer_within / 3);
}

void Connection::keep_alive() {
  auto now = std::chrono::steady_clock::now();
  if (now < next_keepalive_ || now - heard_ < ask_every()) return;
  int seconds = 0;
  if (libssh2_keepalive_send(session_, &seconds) == LIBSSH2_ERROR_SOCKET_SEND) lost_ = true;
  next_keepalive_ = now + std::chrono::seconds(std::max(seconds, 1));
}

Status Connection::give_up(const std::string& why) {
  if (!lost_) lost_why_ = why;
  lost_ = true;
  news_.notify_all();
  return {Code::Lost,
          lost_why_.empty() ? fmt::format("the connection to {} was lost", target_.name()) : lost_why_};
}

// Called after a wait in which nothing came. Keep-alives are answered by every server that works.
bool Connection::is_silent() {
  auto now = std::chrono::steady_clock::now();
  if (now - listened_ > kPause) listening_since_ = now;  // this process slept, or no thread waited
  listened_ = now;
  return now - std::max(heard_, listening_since_) > target_.answer_within;
}

// Called with the lock; another thread may use the connection meanwhile. Returns after news, or after a
// while.
Status Connection::wait_inbound(std::unique_lock<std::mutex>& lock, std::chrono::milliseconds at_most) {
  keep_alive();
  if (lost_) return give_up("");
  if (polling_) {
    news_.wait_for(lock, at_most);
    return {};
  }
  polling_ = true;
  pollfd fds[2] = {{socket_, POLLIN, 0}, {wake_, POLLIN, 0}};
  lock.unlock();
  int ready = poll(fds, 2, static_cast<int>(at_most.count()));
  int error = errno;
  lock.lock();
  polling_ = false;
  uint64_t count;
  if (fds[1].revents) (void)!read(wake_, &count, sizeof count);
  news_.notify_all();
  if (ready < 0 && error != EINTR) return errno_status(error, "poll");
  if (ready == 0 && is_silent()) {
    return give_up(fmt::format("{} has not answered for {} s: the server hangs, or the network is cut",
                               target_.name(), target_.answer_within.count()));
  }
  return {};
}

// Called with the lock and keeps it: the packet under way belongs to this thread's call.
Status Connection::wait_outbound() {
  pollfd fd{socket_, POLLOUT, 0};
  int ready = poll(&fd, 1, static_cast<int>(kSlice.count()));
  if (ready < 0 && errno != EINTR) return errno_status(errno, "poll");
  auto now = std::chrono::steady_clock::now();
  if (ready > 0) {
    blocked_since_ = TimePoint::max();
  } else {
    blocked_since_ = std::min(blocked_since_, now);
    if (now - blocked_since_ > target_.answer_within) {
      return give_up(fmt::format("{} has taken no bytes for {} s: the server hangs, or the network is cut",
                                 target_.name(), target_.answer_within.count()));
    }
  }
  return {};
}

Result<Connection::Outcome> Connection::drive(const Stop& stop, const std::function<int()>& call) {
  std::unique_lock lock(mutex_);
  for (;;) {
    int code = call();
    if (code != LIBSSH2_ERROR_EAGAIN) {
      Outcome outcome = outcome_of(code);
      progress();
      return outcome;
    }
    bool sending = (libssh2_session_block_directions(session_) & LIBSSH2_SESSION_BLOCK_OUTBOUND) != 0;
    // A partly sent packet must be completed even after the deadline, or the connection becomes
    // unusable.
    if (Status s = stop.check(); !s.ok()) {
      if (sending) lost_ = true;
      return s;
    }
    Status waited = sending ? wait_outbound() : wait_inbound(lock, kSlice);
    if (!waited.ok()) return waited;
  }
}

}  // namespace radl::ssh

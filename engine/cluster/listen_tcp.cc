// The listening side of links over TCP. Strangers can reach it: everybody's handshake goes on beside the
// others' in one thread that waits for none of them, has one limit for all of it and a place that the next
// one may take.
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/files.h"
#include "engine/cluster/link_tcp.h"

namespace radl::engine::cluster {
namespace {

constexpr int kAcceptedAtOnce = 64;  // before those who are here are looked at again

// The server's side of one handshake, as far as it has come.
class Greeting {
 public:
  // `key` outlives it.
  Greeting(int fd, const std::string& key, Identity self, Clock::time_point end)
      : name_("a client at " + peer_address(fd)),
        socket_(std::make_unique<Socket>(fd)),
        key_(key),
        self_(self),
        end_(end) {}

  // Goes on as far as it can without waiting. Retry: it is not done yet; else why it has failed.
  Result<std::unique_ptr<Link>> advance() {
    for (;;) {
      Result<size_t> moved = out_.empty() ? read() : write();
      if (!moved) return std::move(moved).status();
      if (out_.empty() && admitted_) return make_tcp_link(std::move(socket_), std::move(secure_));
      if (*moved == 0) return Status(Code::Retry, "it is not done");
    }
  }

  const std::string& name() const { return name_; }
  pollfd wanted() const { return {socket_->fd(), static_cast<short>(out_.empty() ? POLLIN : POLLOUT), 0}; }
  Clock::time_point end() const { return end_; }

 private:
  Result<size_t> write() {
    Result<size_t> n = socket_->write_some(out_);
    if (n) out_.erase(0, *n);
    return n;
  }

  Result<size_t> read() {
    char bytes[kMostHandshake];
    Result<size_t> n = socket_->read_some(bytes, kMostHandshake - taken_);
    if (!n || *n == 0) return n;
    taken_ += *n;
    if (!secure_) secure_ = SecureEnd::server(key_, self_);  // which costs something
    Status shaken = secure_->shake({bytes, *n}, out_);
    admitted_ = shaken.ok();
    if (shaken.code() == Code::Retry && taken_ == kMostHandshake)
      shaken = Status(Code::Corrupt, "does not speak the protocol of a training job");
    if (shaken.ok() || shaken.code() == Code::Retry) return n;
    (void)socket_->write_some(out_);  // tells clients that speak TLS
    return shaken;
  }

  std::string name_;
  std::unique_ptr<Socket> socket_;
  const std::string& key_;
  Identity self_;
  Clock::time_point end_;
  std::unique_ptr<SecureEnd> secure_;
  std::string out_;
  size_t taken_ = 0;
  bool admitted_ = false;  // the client has proved to know the key
};

// Sums up who was not let in: anybody can knock as often as they like, and progress must stay readable.
class Refusals {
 public:
  explicit Refusals(const ListenOptions& options) : options_(options) {}

  void add(const Status& why) {
    ++count_;
    last_ = why.message();
  }
  void tell(bool at_once) {
    const Clock::time_point now = Clock::now();
    if (count_ == 0 || (!at_once && told_ && now - *told_ < options_.tell_every)) return;
    told_ = now;
    const uint64_t count = std::exchange(count_, 0);
    if (options_.refused) options_.refused(count, last_);
  }

 private:
  const ListenOptions& options_;
  uint64_t count_ = 0;
  std::string last_;
  std::optional<Clock::time_point> told_;
};

class TcpListener : public Listener {
 public:
  TcpListener(int fd, std::string key, Identity self, ListenOptions options)
      : socket_(fd),
        key_(std::move(key)),
        self_(self),
        options_(std::move(options)),
        address_(own_address(fd)),
        refusals_(options_) {}

  Result<std::unique_ptr<Link>> accept(Milliseconds timeout) override {
    const Patience patience = Patience::until(Clock::now() + timeout);
    for (;;) {
      if (closed_) return end();
      Status taken = take_connections();
      advance_all();
      refusals_.tell(false);
      if (!admitted_.empty()) {
        std::unique_ptr<Link> link = std::move(admitted_.front());
        admitted_.pop_front();
        return link;
      }
      if (!taken.ok()) return taken;
      if (patience.now().count() == 0) return Status(Code::Timeout, "nobody connected");
      wait(patience);
    }
  }

  void close() override {
    closed_ = true;
    socket_.shut();  // wakes accept() and prevents further connections
  }
  std::string address() const override { return address_; }

 private:
  Status end() {
    pending_.clear();
    admitted_.clear();
    refusals_.tell(true);
    return {Code::Cancelled, "no longer listening"};
  }

  Status take_connections() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
      int fd = ::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) {
        const int error = errno;
        if (error == EINTR || error == ECONNABORTED) continue;
        const bool short_of = error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
        if (!short_of) return {};  // nobody more; a connection that broke already is nobody's concern
        if (pending_.empty()) return errno_status(error, "accept at " + address_);
        make_room();
        continue;
      }
      tune(fd);
      if (pending_.size() >= options_.most_pending) make_room();
      pending_.push_back(std::make_unique<Greeting>(fd, key_, self_, Clock::now() + options_.handshake));
    }
    return {};
  }

  // The oldest gives way, unless it can go on this moment: what it sent may be here by now.
  void make_room() {
    std::unique_ptr<Greeting> oldest = std::move(pending_.front());
    pending_.pop_front();
    if (!proceed(*oldest)) return;
    refusals_.add(
        Status(Code::Timeout, oldest->name() + ": gave way to others before it proved to know the key"));
  }

  // True while it must go on waiting.
  bool proceed(Greeting& greeting) {
    Result<std::unique_ptr<Link>> link = greeting.advance();
    if (link.ok()) {
      admitted_.push_back(std::move(*link));
      return false;
    }
    if (link.status().code() == Code::Retry) return true;
    refusals_.add(Status(link.status()).at(greeting.name()));
    return false;
  }

  void advance_all() {
    const Clock::time_point now = Clock::now();
    std::deque<std::unique_ptr<Greeting>> waiting;
    for (std::unique_ptr<Greeting>& greeting : pending_) {
      if (!proceed(*greeting)) continue;
      if (now < greeting->end()) {
        waiting.push_back(std::move(greeting));
      } else {
        refusals_.add(Status(Code::Timeout, greeting->name() + ": did not prove in time to know the key"));
      }
    }
    pending_ = std::move(waiting);
  }

  void wait(const Patience& patience) {
    std::vector<pollfd> fds = {{socket_.fd(), POLLIN, 0}};
    Milliseconds most = patience.now();
    for (const std::unique_ptr<Greeting>& greeting : pending_) {
      fds.push_back(greeting->wanted());
      most = std::min(most, Patience::until(greeting->end()).now() + Milliseconds(1));
    }
    (void)::poll(fds.data(), fds.size(), static_cast<int>(std::min<int64_t>(most.count(), 1000)));
  }

  Socket socket_;
  std::string key_;
  Identity self_;
  ListenOptions options_;
  std::string address_;
  std::atomic<bool> closed_ = false;
  std::deque<std::unique_ptr<Greeting>> pending_;  // the oldest first
  std::deque<std::unique_ptr<Link>> admitted_;
  Refusals refusals_;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(const std::string& address, std::string key, Identity self,
                                             ListenOptions options) {
  Result<Endpoint> endpoint = split_address(address);
  if (!endpoint) return std::move(endpoint).status();
  Result<int> fd = listen_at(*endpoint);
  if (!fd) return std::move(fd).status();
  return std::unique_ptr<Listener>(
      std::make_unique<TcpListener>(*fd, std::move(key), self, std::move(options)));
}

}  // namespace radl::engine::cluster

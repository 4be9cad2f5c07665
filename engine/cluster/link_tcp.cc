#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <thread>
#include <vector>

#include "common/files.h"
#include "engine/cluster/link.h"
#include "engine/cluster/socket.h"

namespace radl::engine::dist {
namespace {

constexpr Milliseconds kHandshakeTimeout{5000};

class TcpLink : public Link {
 public:
  TcpLink(std::unique_ptr<Socket> socket, SessionCiphers ciphers)
      : socket_(std::move(socket)), ciphers_(std::move(ciphers)), address_(peer_address(socket_->fd())) {
    sealed_.resize(kRecordSize + kRecordOverhead);
    body_.resize(kRecordSize + 16);
  }

  Status send(const Message& message, Milliseconds timeout) override {
    std::lock_guard lock(sending_);
    char header[kHeaderSize];
    write_header(message.type, message.payload.size(), header);
    std::string_view head(header, kHeaderSize), rest = message.payload;
    do {  // the header shares a record with the beginning of the payload
      std::string_view piece = rest.substr(0, kRecordSize - head.size());
      rest.remove_prefix(piece.size());
      ciphers_.send->seal(head, piece, sealed_.data());
      size_t size = head.size() + piece.size() + kRecordOverhead;
      if (Status sent = socket_->write({sealed_.data(), size}, timeout); !sent.ok()) {
        close();  // half a message is out: nothing can follow it
        return std::move(sent).at(name());
      }
      head = {};
    } while (!rest.empty());
    return {};
  }

  Status receive(Message& message, Milliseconds timeout) override {
    Status status = receive_message(message, timeout);
    if (status.ok() || status.code() == Code::Timeout) return status;
    close();
    return std::move(status).at(name());
  }

  void close() override { socket_->shut(); }
  void set_limit(size_t bytes) override { limit_ = bytes; }
  Identity peer() const override { return ciphers_.peer; }
  std::string name() const override {
    return fmt::format("{}/{} at {}", role_name(ciphers_.peer.role), ciphers_.peer.index, address_);
  }

 private:
  Status receive_message(Message& message, Milliseconds timeout) {
    size_t size = 0;
    if (Status got = receive_record(plain_, size, timeout, false); !got.ok()) return got;
    if (size < kHeaderSize) return {Code::Corrupt, "a record too short for a message"};
    uint64_t length = 0;
    if (Status read = read_header(plain_.data(), limit_, message.type, length); !read.ok()) return read;
    size_t have = size - kHeaderSize;
    if (have > length) return {Code::Corrupt, "a record longer than its message"};
    message.payload.clear();
    message.payload.append(plain_.data() + kHeaderSize, have);
    while (have < length) {  // grows with what really arrived, not with what the header announced
      message.payload.resize(std::min<size_t>(length, std::max<size_t>(have + kRecordSize, have * 2)));
      while (have < message.payload.size()) {
        if (message.payload.size() - have >= kRecordSize) {
          if (Status got = receive_into(message.payload.data() + have, size, timeout); !got.ok()) return got;
        } else {
          if (Status got = receive_record(plain_, size, timeout, true); !got.ok()) return got;
          if (size > message.payload.size() - have) {
            if (size > length - have) return {Code::Corrupt, "a record longer than its message"};
            message.payload.resize(have + size);
          }
          std::copy_n(plain_.data(), size, message.payload.data() + have);
        }
        have += size;
      }
    }
    return {};
  }

  Status receive_record(std::vector<char>& out, size_t& size, Milliseconds timeout, bool started) {
    out.resize(kRecordSize);
    return receive_body(out.data(), size, timeout, started);
  }
  Status receive_into(char* out, size_t& size, Milliseconds timeout) {
    return receive_body(out, size, timeout, true);
  }

  // Opens the next record into `out`, which has room for kRecordSize bytes.
  Status receive_body(char* out, size_t& size, Milliseconds timeout, bool started) {
    char length[4];
    if (Status got = socket_->read(length, sizeof length, timeout, started); !got.ok()) return got;
    Result<size_t> body = RecordCipher::body_size(length);
    if (!body) return std::move(body).status();
    if (Status got = socket_->read(body_.data(), *body, timeout, true); !got.ok()) return got;
    size = *body - 16;
    return ciphers_.receive->open({body_.data(), *body}, out);
  }

  std::unique_ptr<Socket> socket_;
  SessionCiphers ciphers_;
  std::string address_;
  std::mutex sending_;
  std::vector<char> sealed_, body_, plain_;
  std::atomic<size_t> limit_ = kSmallMessage;
};

Result<std::unique_ptr<Link>> greet_client(std::unique_ptr<Socket> socket, const std::string& key,
                                           Identity self) {
  std::string from = "a client at " + peer_address(socket->fd());
  ServerHandshake handshake(key, self);
  char hello[kHelloSize], proof[kProofSize];
  if (Status got = socket->read(hello, sizeof hello, kHandshakeTimeout); !got.ok())
    return std::move(got).at(from);
  Result<std::string> answer = handshake.answer({hello, sizeof hello});
  if (!answer) return std::move(answer).status().at(from);
  if (Status sent = socket->write(*answer, kHandshakeTimeout); !sent.ok()) return std::move(sent).at(from);
  if (Status got = socket->read(proof, sizeof proof, kHandshakeTimeout); !got.ok())
    return std::move(got).at(from);
  Result<SessionCiphers> ciphers = handshake.verify({proof, sizeof proof});
  if (!ciphers) return std::move(ciphers).status().at(from);
  return std::unique_ptr<Link>(std::make_unique<TcpLink>(std::move(socket), std::move(*ciphers)));
}

Result<std::unique_ptr<Link>> greet_server(std::unique_ptr<Socket> socket, const std::string& key,
                                           Identity self) {
  ClientHandshake handshake(key, self);
  char answer[kServerHelloSize];
  if (Status sent = socket->write(handshake.hello(), kHandshakeTimeout); !sent.ok()) return sent;
  if (Status got = socket->read(answer, sizeof answer, kHandshakeTimeout); !got.ok()) return got;
  std::string proof;
  Result<SessionCiphers> ciphers = handshake.finish({answer, sizeof answer}, proof);
  if (!ciphers) return std::move(ciphers).status();
  if (Status sent = socket->write(proof, kHandshakeTimeout); !sent.ok()) return sent;
  return std::unique_ptr<Link>(std::make_unique<TcpLink>(std::move(socket), std::move(*ciphers)));
}

class TcpListener : public Listener {
 public:
  TcpListener(int fd, std::string key, Identity self)
      : socket_(fd), key_(std::move(key)), self_(self), address_(own_address(fd)) {}

  Result<Handshake> accept(Milliseconds timeout) override {
    Clock::time_point end = Clock::now() + timeout;
    for (;;) {
      if (closed_) return Status(Code::Cancelled, "no longer listening");
      int fd = ::accept4(socket_.fd(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd >= 0) {
        tune(fd);
        auto held = std::make_shared<std::unique_ptr<Socket>>(std::make_unique<Socket>(fd));
        return Handshake(
            [held, key = key_, self = self_] { return greet_client(std::move(*held), key, self); });
      }
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        return errno_status(errno, "accept at " + address_);
      }
      if (Clock::now() >= end) return Status(Code::Timeout, "nobody connected");
      pollfd p{socket_.fd(), POLLIN, 0};
      auto left = std::chrono::duration_cast<Milliseconds>(end - Clock::now()).count();
      ::poll(&p, 1, static_cast<int>(std::clamp<long>(left, 0, 200)));
    }
  }

  void close() override { closed_ = true; }
  std::string address() const override { return address_; }

 private:
  Socket socket_;
  std::string key_;
  Identity self_;
  std::string address_;
  std::atomic<bool> closed_ = false;
};

}  // namespace

Result<std::unique_ptr<Listener>> listen_tcp(const std::string& address, std::string key, Identity self) {
  Result<Endpoint> endpoint = split_address(address);
  if (!endpoint) return std::move(endpoint).status();
  Result<int> fd = listen_at(*endpoint);
  if (!fd) return std::move(fd).status();
  return std::unique_ptr<Listener>(std::make_unique<TcpListener>(*fd, std::move(key), self));
}

Result<std::unique_ptr<Link>> connect_tcp(const std::string& address, std::string key, Identity self,
                                          Milliseconds patience, const std::atomic<bool>* cancelled) {
  Result<Endpoint> endpoint = split_address(address);
  if (!endpoint) return std::move(endpoint).status();
  Clock::time_point end = Clock::now() + patience;
  Milliseconds pause{10};
  for (;;) {
    Result<int> fd = connect_once(*endpoint, std::min<Milliseconds>(patience, Milliseconds(3000)));
    Status failed = fd.status();
    if (fd.ok()) {
      Result<std::unique_ptr<Link>> link = greet_server(std::make_unique<Socket>(*fd), key, self);
      if (link.ok()) return link;
      failed = link.status();
      // Lost in the handshake: the other side is starting or ending; or refuses us, which a second look does
      // not change.
      if (failed.code() != Code::Lost && failed.code() != Code::Timeout) return std::move(failed).at(address);
    } else if (failed.code() != Code::Retry) {
      return std::move(failed).at(address);
    }
    if (cancelled != nullptr && *cancelled) return Status(Code::Cancelled, "interrupted");
    if (Clock::now() + pause >= end) {
      return Status(Code::Timeout,
                    fmt::format("no answer from {} within {:.0f} s: {}", address,
                                static_cast<double>(patience.count()) / 1000, failed.message()));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<Milliseconds>(pause * 2, Milliseconds(250));
  }
}

}  // namespace radl::engine::dist

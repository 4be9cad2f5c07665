#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/cluster/link_tcp.h"

#include "engine/cluster/tcp_path.h"

namespace radl::engine::cluster {
namespace {

constexpr size_t kPiece = 8 * kRecordSize;  // sealed, or read, at once

class TcpLink : public Link {
 public:
  TcpLink(std::unique_ptr<Socket> socket, std::unique_ptr<SecureEnd> secure)
      : socket_(std::move(socket)), secure_(std::move(secure)), address_(peer_address(socket_->fd())) {
    arrived_.resize(kPiece);
  }

  Status send(const Message& message, Milliseconds timeout) override {
    std::lock_guard lock(sending_);
    char header[kHeaderSize];
    write_header(message.type, message.payload.size(), header);
    sealed_.clear();
    Status sent = secure_->seal({header, kHeaderSize}, sealed_);
    std::string_view rest = message.payload;
    do {
      if (sent.ok()) sent = secure_->seal(rest.substr(0, kPiece), sealed_);
      if (sent.ok()) sent = socket_->write(sealed_, timeout);
      if (!sent.ok()) {
        close();  // part of the message may be out: nothing can follow it
        return std::move(sent).at(name());
      }
      rest.remove_prefix(std::min(rest.size(), kPiece));
      sent_ += sealed_.size();
      sealed_.clear();
    } while (!rest.empty());
    return {};
  }

  Status receive(Message& message, Milliseconds timeout) override {
    Status status = receive_message(message, timeout);
    if (status.ok() || status.code() == Code::Timeout) return status;
    close();
    return std::move(status).at(name());
  }

  Traffic traffic() const override {
    Traffic traffic = path_of(socket_->fd());
    traffic.sent = sent_;
    traffic.received = received_;
    return traffic;
  }
  Milliseconds unacknowledged() const override { return unacknowledged_of(socket_->fd()); }
  void close() override { socket_->shut(); }
  void set_limit(size_t bytes) override { limit_ = bytes; }
  Identity peer() const override { return secure_->peer(); }
  std::string name() const override {
    return fmt::format("{}/{} at {}", role_name(peer().role), peer().index, address_);
  }

 private:
  Status receive_message(Message& message, Milliseconds timeout) {
    char header[kHeaderSize];
    uint64_t length = 0;
    if (Status got = read(header, kHeaderSize, timeout, false); !got.ok()) return got;
    if (Status known = read_header(header, limit_, message.type, length); !known.ok()) return known;
    message.payload.clear();
    for (size_t have = 0;
         have < length;) {  // grows with what really arrived, not with what the header announced
      message.payload.resize(std::min<size_t>(length, std::max<size_t>(have + kPiece, have * 2)));
      if (Status got = read(message.payload.data() + have, message.payload.size() - have, timeout, true);
          !got.ok())
        return got;
      have = message.payload.size();
    }
    return {};
  }

  // Exactly so many bytes of plaintext. Timeout only before the first of them.
  Status read(char* to, size_t size, Milliseconds timeout, bool started) {
    while (size > 0) {
      Result<size_t> opened = secure_->open(to, size);
      if (!opened) return std::move(opened).status();
      if (*opened == 0) {
        Result<size_t> n = socket_->read_any(arrived_.data(), arrived_.size(), timeout, started);
        if (!n) return std::move(n).status();
        received_ += *n;
        secure_->feed({arrived_.data(), *n});
        continue;
      }
      to += *opened;
      size -= *opened;
      started = true;
    }
    return {};
  }

  std::unique_ptr<Socket> socket_;
  std::unique_ptr<SecureEnd> secure_;
  std::string address_;
  std::mutex sending_;
  std::string sealed_;
  std::vector<char> arrived_;
  std::atomic<size_t> limit_ = kSmallMessage;
  std::atomic<uint64_t> sent_ = 0, received_ = 0;
};

Result<std::unique_ptr<Link>> greet_server(std::unique_ptr<Socket> socket, const std::string& key,
                                           Identity self, Identity peer, Clock::time_point end) {
  const Patience patience = Patience::until(std::min(end, Clock::now() + ListenOptions().handshake));
  std::unique_ptr<SecureEnd> secure = SecureEnd::client(key, self, peer);
  char arrived[kMostHandshake];
  for (std::string_view in;;) {
    std::string out;
    Status shaken = secure->shake(in, out);
    Status sent = socket->write(out, patience);
    if (shaken.ok()) return make_tcp_link(std::move(socket), std::move(secure));
    if (shaken.code() != Code::Retry) return shaken;
    if (!sent.ok()) return sent;
    Result<size_t> n = socket->read_any(arrived, sizeof arrived, patience);
    if (!n) return std::move(n).status();
    in = {arrived, *n};
  }
}

}  // namespace

std::unique_ptr<Link> make_tcp_link(std::unique_ptr<Socket> socket, std::unique_ptr<SecureEnd> secure) {
  return std::make_unique<TcpLink>(std::move(socket), std::move(secure));
}

Result<std::unique_ptr<Link>> connect_tcp(const std::string& address, std::string key, Identity self,
                                          Identity peer, Milliseconds patience, const radl::Stop& stop) {
  Result<Endpoint> endpoint = split_address(address);
  if (!endpoint) return std::move(endpoint).status();
  Clock::time_point end = Clock::now() + patience;
  Milliseconds pause{10};
  for (;;) {
    Result<int> fd = connect_once(*endpoint, std::min<Milliseconds>(patience, Milliseconds(3000)));
    Status failed = fd.status();
    if (fd.ok()) {
      Result<std::unique_ptr<Link>> link = greet_server(std::make_unique<Socket>(*fd), key, self, peer, end);
      if (link.ok()) return link;
      failed = link.status();
      // Lost in the handshake: the other side is starting or ending; or refuses us, which a second look does
      // not change.
      if (failed.code() != Code::Lost && failed.code() != Code::Timeout) return std::move(failed).at(address);
    } else if (failed.code() != Code::Retry && failed.code() != Code::NotFound) {
      return std::move(failed).at(address);
    }
    if (stop.asked()) return Status(Code::Cancelled, "interrupted");
    if (Clock::now() + pause >= end) {
      return Status(Code::Timeout,
                    fmt::format("no answer from {} within {:.0f} s: {}", address,
                                static_cast<double>(patience.count()) / 1000, failed.message()));
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<Milliseconds>(pause * 2, Milliseconds(250));
  }
}

Result<std::unique_ptr<Link>> try_connect_tcp(const std::string& address, std::string key, Identity self,
                                              Identity peer, Milliseconds patience) {
  Result<Endpoint> endpoint = split_address(address);
  if (!endpoint) return std::move(endpoint).status();
  const Clock::time_point end = Clock::now() + patience;
  Result<int> fd = connect_once(*endpoint, patience);
  if (!fd) return std::move(fd).status();
  return greet_server(std::make_unique<Socket>(*fd), key, self, peer, end);
}

}  // namespace radl::engine::cluster

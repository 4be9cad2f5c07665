#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/cluster/link_tcp.h"

#include "engine/cluster/tcp_path.h"

namespace radl::engine::cluster {
namespace {

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
      sent_ += size;
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

  Traffic traffic() const override {
    Traffic traffic = path_of(socket_->fd());
    traffic.sent = sent_;
    traffic.received = received_;
    return traffic;
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
    received_ += sizeof length + *body;
    return ciphers_.receive->open({body_.data(), *body}, out);
  }

  std::unique_ptr<Socket> socket_;
  SessionCiphers ciphers_;
  std::string address_;
  std::mutex sending_;
  std::vector<char> sealed_, body_, plain_;
  std::atomic<size_t> limit_ = kSmallMessage;
  std::atomic<uint64_t> sent_ = 0, received_ = 0;
};

Result<std::unique_ptr<Link>> greet_server(std::unique_ptr<Socket> socket, const std::string& key,
                                           Identity self, Clock::time_point end) {
  const Patience patience = Patience::until(std::min(end, Clock::now() + ListenOptions().handshake));
  ClientHandshake handshake(key, self);
  char answer[kServerHelloSize];
  if (Status sent = socket->write(handshake.hello(), patience); !sent.ok()) return sent;
  if (Status got = socket->read(answer, sizeof answer, patience); !got.ok()) return got;
  std::string proof;
  Result<SessionCiphers> ciphers = handshake.finish({answer, sizeof answer}, proof);
  if (!ciphers) return std::move(ciphers).status();
  if (Status sent = socket->write(proof, patience); !sent.ok()) return sent;
  // Without the server's word the link may have ended there already: it had too many strangers to wait for.
  char admitted[kAdmittedSize], plain[1];
  if (Status got = socket->read(admitted, sizeof admitted, patience, true); !got.ok()) return got;
  if (Status opened = ciphers->receive->open({admitted + 4, sizeof admitted - 4}, plain); !opened.ok())
    return opened;
  return make_tcp_link(std::move(socket), std::move(*ciphers));
}

}  // namespace

std::unique_ptr<Link> make_tcp_link(std::unique_ptr<Socket> socket, SessionCiphers ciphers) {
  return std::make_unique<TcpLink>(std::move(socket), std::move(ciphers));
}

Result<std::unique_ptr<Link>> connect_tcp(const std::string& address, std::string key, Identity self,
                                          Milliseconds patience, const radl::Stop& stop) {
  Result<Endpoint> endpoint = split_address(address);
  if (!endpoint) return std::move(endpoint).status();
  Clock::time_point end = Clock::now() + patience;
  Milliseconds pause{10};
  for (;;) {
    Result<int> fd = connect_once(*endpoint, std::min<Milliseconds>(patience, Milliseconds(3000)));
    Status failed = fd.status();
    if (fd.ok()) {
      Result<std::unique_ptr<Link>> link = greet_server(std::make_unique<Socket>(*fd), key, self, end);
      if (link.ok()) return link;
      failed = link.status();
      // Lost in the handshake: the other side is starting or ending; or refuses us, which a second look does
      // not change.
      if (failed.code() != Code::Lost && failed.code() != Code::Timeout) return std::move(failed).at(address);
    } else if (failed.code() != Code::Retry) {
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

}  // namespace radl::engine::cluster

#include "tools/lsp/connection.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <set>
#include <thread>

#include "common/json_depth.h"
#include "tools/lsp/framing.h"

namespace radl::lsp {
namespace {

constexpr int kMaxDepth = 128;      // of a message: more costs memory out of proportion
constexpr size_t kMaxQueue = 4096;  // then reading waits for the owner
constexpr size_t kMaxQueuedBytes = 256u << 20;

Incoming bad(int code, std::string why, Json id = nullptr) {
  Incoming message;
  message.kind = Incoming::Kind::Bad;
  message.error_code = code;
  message.why = std::move(why);
  message.id = std::move(id);
  return message;
}

bool is_id(const Json& id) { return id.is_string() || id.is_number_integer(); }

}  // namespace

Incoming parse_message(std::string_view body) {
  if (json_shape(body).depth > kMaxDepth) return bad(kParseError, "nested too deeply");
  Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return bad(kParseError, "not JSON");
  if (!json.is_object()) return bad(kInvalidRequest, "a message must be an object");
  Json id = json.contains("id") && is_id(json["id"]) ? json["id"] : Json(nullptr);
  auto version = json.find("jsonrpc");
  if (version == json.end() || *version != "2.0")
    return bad(kInvalidRequest, "\"jsonrpc\" must be \"2.0\"", id);
  Incoming message;
  auto method = json.find("method");
  if (method == json.end()) {
    if (!json.contains("result") && !json.contains("error")) {
      return bad(kInvalidRequest, "neither a method nor a result", id);
    }
    message.kind = Incoming::Kind::Response;
    message.id = id;
    return message;
  }
  if (!method->is_string()) return bad(kInvalidRequest, "\"method\" must be a string", id);
  message.method = method->get<std::string>();
  if (auto params = json.find("params"); params != json.end()) {
    if (!params->is_structured() && !params->is_null()) {
      return bad(kInvalidRequest, "\"params\" must be an object or a list", id);
    }
    message.params = std::move(*params);
  }
  if (!json.contains("id")) {
    message.kind = Incoming::Kind::Notification;
    return message;
  }
  if (id.is_null()) return bad(kInvalidRequest, "\"id\" must be a string or an integer");
  message.kind = Incoming::Kind::Request;
  message.id = std::move(id);
  return message;
}

struct Connection::Impl {
  struct Queued {
    Incoming message;
    size_t bytes = 0;
  };

  int in_fd, out_fd;
  int wake[2] = {-1, -1};  // written to end the reader
  std::thread reader;

  mutable std::mutex mutex;
  std::condition_variable arrived, taken;
  std::deque<Queued> queue;
  size_t queued_bytes = 0;
  std::set<std::string> open, cancelled;  // ids, as JSON text
  bool ended = false, closing = false, interrupted = false;

  std::mutex write_mutex;
  std::atomic<bool> writable{true};

  void push(Incoming message, size_t bytes) {
    std::unique_lock lock(mutex);
    taken.wait(lock, [&] { return closing || (queue.size() < kMaxQueue && queued_bytes < kMaxQueuedBytes); });
    if (closing) return;
    if (message.kind == Incoming::Kind::Notification && message.method == "$/cancelRequest") {
      if (message.params.is_object() && message.params.contains("id") && is_id(message.params["id"])) {
        std::string key = message.params["id"].dump();
        if (open.count(key)) cancelled.insert(key);  // an id that is not open is answered already
      }
      return;
    }
    if (message.kind == Incoming::Kind::Request) open.insert(message.id.dump());
    queued_bytes += bytes;
    queue.push_back({std::move(message), bytes});
    arrived.notify_one();
  }

  void read_all() {
    FrameDecoder decoder;
    std::string body;
    std::vector<char> chunk(1u << 16);
    while (true) {
      pollfd fds[2] = {{in_fd, POLLIN, 0}, {wake[0], POLLIN, 0}};
      if (poll(fds, 2, -1) < 0) {
        if (errno == EINTR) continue;
        break;
      }
      if (fds[1].revents) return;
      ssize_t got = read(in_fd, chunk.data(), chunk.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) break;
      decoder.feed({chunk.data(), static_cast<size_t>(got)});
      for (auto event = decoder.next(body); event != FrameDecoder::Event::NeedMore;
           event = decoder.next(body)) {
        if (event == FrameDecoder::Event::Bad) {
          push(bad(kParseError, body), body.size());
        } else {
          push(parse_message(body), body.size());
        }
      }
    }
    std::lock_guard lock(mutex);
    ended = true;
    arrived.notify_one();
  }

  void write_frame(const Json& message) {
    // Text that is no UTF-8 (a file may hold any bytes) must not stop an answer.
    std::string frame = encode_frame(message.dump(-1, ' ', false, Json::error_handler_t::replace));
    std::lock_guard lock(write_mutex);
    std::string_view rest = frame;
    while (!rest.empty() && writable) {
      ssize_t put = write(out_fd, rest.data(), rest.size());
      if (put >= 0) {
        rest.remove_prefix(static_cast<size_t>(put));
      } else if (errno == EAGAIN) {
        pollfd fd{out_fd, POLLOUT, 0};
        poll(&fd, 1, 1000);
      } else if (errno != EINTR) {
        writable = false;
      }
    }
  }

  void close_request(const Json& id) {
    std::lock_guard lock(mutex);
    std::string key = id.dump();
    open.erase(key);
    cancelled.erase(key);
  }
};

Connection::Connection(int in_fd, int out_fd) : impl_(std::make_unique<Impl>()) {
  impl_->in_fd = in_fd;
  impl_->out_fd = out_fd;
  sigset_t pipe_signal;  // a client that went away is a failed write, not the end of this process
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  if (pipe2(impl_->wake, O_CLOEXEC) != 0) {
    impl_->ended = true;
    return;
  }
  impl_->reader = std::thread([this] { impl_->read_all(); });
}

Connection::~Connection() {
  {
    std::lock_guard lock(impl_->mutex);
    impl_->closing = true;
    impl_->taken.notify_all();
  }
  if (impl_->reader.joinable()) {
    while (write(impl_->wake[1], "x", 1) < 0 && errno == EINTR) {
    }
    impl_->reader.join();
  }
  for (int fd : impl_->wake) {
    if (fd >= 0) close(fd);
  }
}

Incoming Connection::receive(std::chrono::milliseconds wait) {
  std::unique_lock lock(impl_->mutex);
  auto ready = [&] { return !impl_->queue.empty() || impl_->ended || impl_->interrupted; };
  if (!impl_->arrived.wait_for(lock, wait, ready)) return {};
  impl_->interrupted = false;
  if (impl_->queue.empty()) {
    if (!impl_->ended) return {};
    Incoming end;
    end.kind = Incoming::Kind::End;
    return end;
  }
  Impl::Queued next = std::move(impl_->queue.front());
  impl_->queue.pop_front();
  impl_->queued_bytes -= next.bytes;
  impl_->taken.notify_one();
  return std::move(next.message);
}

void Connection::interrupt() {
  std::lock_guard lock(impl_->mutex);
  impl_->interrupted = true;
  impl_->arrived.notify_one();
}

bool Connection::cancelled(const Json& id) const {
  std::lock_guard lock(impl_->mutex);
  return impl_->cancelled.count(id.dump()) > 0;
}

void Connection::reply(const Json& id, Json result) {
  impl_->close_request(id);
  impl_->write_frame({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
}

void Connection::fail(const Json& id, int code, std::string_view message) {
  impl_->close_request(id);
  Json error = {{"code", code}, {"message", message}};
  impl_->write_frame({{"jsonrpc", "2.0"}, {"id", id}, {"error", std::move(error)}});
}

void Connection::notify(std::string_view method, Json params) {
  impl_->write_frame({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
}

bool Connection::writable() const { return impl_->writable; }

}  // namespace radl::lsp

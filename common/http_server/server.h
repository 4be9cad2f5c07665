// An HTTP/1.1 server over libmicrohttpd, plain or with TLS, for radlc and radl-train.
//
// A request goes by three calls of its handler: `begin` sees the head and refuses it or opens an exchange,
// before a byte of the body is taken; `receive` sees the body as it arrives; `finish` gives the answer.
// `begin` and `receive` run in the server's own threads and must not wait; `finish` runs in one of the
// workers.
//
// The server refuses what is malformed (guard.h), cuts off who is slow or one too many (connections.h),
// answers 429 when the queue of the workers is full, and survives a handler that throws (500; 503 for
// std::bad_alloc). It checks no token and sets no header of its own but Content-Type: that is the handler's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/http_server/connections.h"
#include "common/http_server/events.h"
#include "common/http_server/head.h"
#include "common/status.h"

namespace radl::httpd {

struct Answer {
  int status = 200;
  std::string body;
  std::string type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  // beside Content-Type
  std::string file;                      // the body is this regular file; 500 if it cannot be read
  std::unique_ptr<StreamSource> stream;  // the body comes from here; events if `type` is text/event-stream
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  // A part of the body. Something: the request is refused with it, and the rest of the body is dropped.
  virtual std::optional<Answer> receive(std::string_view part) = 0;
  virtual Answer finish() = 0;
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual std::variant<Answer, std::unique_ptr<Exchange>> begin(const RequestHead& head) = 0;
  // The answer to a request that reached no exchange: 400 malformed, 429 the queue is full, 500, 503.
  virtual Answer refuse(int status, const std::string& why) = 0;
  // An answer goes out, `seconds` after its head had arrived.
  virtual void answered(const RequestHead& head, int status, double seconds);
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6
  uint16_t port = 0;                  // 0: any free one
  std::string certificate, key;       // PEM texts; both or neither. TLS 1.2 and 1.3.
  ConnectionLimits connections;
  // Request line and headers; more is 431. Above 32 KiB libmicrohttpd maps the memory of a connection, so
  // that only what a request needs of it is in use.
  size_t head_bytes = size_t{36} << 10;
  size_t threads = 2;        // that read and write
  size_t workers = 8;        // that call finish()
  size_t queue = 64;         // requests that may wait for a worker
  size_t streams = 256;      // answers with a stream, above ConnectionLimits::most; the handler limits them
  double beat_seconds = 15;  // of event streams that have nothing to say
};

class Server {
 public:
  // Listens when it returns. `handler` lives longer than the server. Conflict: the address is in use;
  // Invalid: it is none, or the certificate or key is.
  static Result<std::unique_ptr<Server>> start(Handler& handler, const ServerOptions& options);
  ~Server();  // as stop()
  // Takes no new connection, ends all streams, gives the answers that are being made, and closes.
  void stop();
  uint16_t port() const;
  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::httpd

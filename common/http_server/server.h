// An HTTP/1.1 server over libmicrohttpd, plain or with TLS, for radlc and radl-train.
//
// Three calls of the handler serve a request. `begin` receives the head and rejects the request or opens an
// exchange, before any of the body is read. `receive` gets the body as it arrives. `finish` returns the
// answer. `begin` and `receive` run on the server's own threads and must not block; `finish` runs on a
// worker.
//
// The server rejects malformed requests (guard.h), closes slow or surplus connections (connections.h),
// answers 429 if the workers' queue is full, and survives a handler that throws (500, or 503 for
// std::bad_alloc). Authentication and all headers except Content-Type are the handler's job.
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
  std::vector<std::pair<std::string, std::string>> headers;  // in addition to Content-Type
  std::string file;                      // the body is this regular file; 500 if it cannot be read
  std::unique_ptr<StreamSource> stream;  // streams the body; events if `type` is text/event-stream
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  // Receives a part of the body. If it returns an answer, the request is rejected with it, and the rest of
  // the body is dropped.
  virtual std::optional<Answer> receive(std::string_view part) = 0;
  virtual Answer finish() = 0;
  // False if its body goes to a disk as it arrives.
  virtual bool keeps_body() const { return true; }
};

class Handler {
 public:
  virtual ~Handler() = default;
  virtual std::variant<Answer, std::unique_ptr<Exchange>> begin(const RequestHead& head) = 0;
  // Answers a request that reached no exchange: 400 malformed, 429 queue full, 500, 503.
  virtual Answer refuse(int status, const std::string& why) = 0;
  // An answer is sent, `seconds` after its head arrived.
  virtual void answered(const RequestHead& head, int status, double seconds);
};

struct ServerOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6
  uint16_t port = 0;                  // 0: any free one
  std::string certificate, key;       // PEM texts; both or neither. TLS 1.2 and 1.3.
  ConnectionLimits connections;
  // Maximum size of request line and headers; larger ones get 431. Above 32 KiB, libmicrohttpd maps a
  // connection's memory, so a request uses only what it needs.
  size_t head_bytes = size_t{36} << 10;
  size_t threads = 2;    // threads that read and write
  size_t workers = 8;    // threads that call finish()
  size_t queue = 64;     // requests that may wait for a worker
  size_t streams = 256;  // streaming answers, in addition to ConnectionLimits::most; the handler limits them
  double beat_seconds = 15;  // interval of beats on idle event streams
};

class Server {
 public:
  // The server listens when this returns. `handler` must outlive the server. Conflict: the address is in use.
  // Invalid: the address, certificate or key is invalid.
  static Result<std::unique_ptr<Server>> start(Handler& handler, const ServerOptions& options);
  ~Server();  // calls stop()
  // Accepts no new connections, ends all streams, completes answers in progress, and closes.
  void stop();
  uint16_t port() const;
  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::httpd

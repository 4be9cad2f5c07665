// JSON-RPC 2.0 over two file descriptors: a thread reads ahead; the owner takes messages in order of
// arrival.
//
// Reading ahead allows a `$/cancelRequest` to overtake pending requests: see `cancelled`. Malformed input
// never ends the connection: it becomes a Bad message, which the owner answers with an error.
#pragma once

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace radl::lsp {

using Json = nlohmann::json;

// JSON-RPC and LSP error codes.
enum RpcCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kNotInitialized = -32002,
  kRequestCancelled = -32800,
  kRequestFailed = -32803,
};

struct Incoming {
  enum class Kind {
    Request,       // id, method, params
    Notification,  // method, params
    Response,      // id; response to a request from this server
    Bad,           // error_code, why; id if one could be read
    End,           // the client closed the connection, or reading failed
    Idle,          // nothing arrived in time, or the wait was interrupted
  };
  Kind kind = Kind::Idle;
  Json id;
  std::string method;
  Json params;
  int error_code = 0;
  std::string why;
};

// Parses a message body. Never throws; nesting deeper than 128 is Bad.
Incoming parse_message(std::string_view body);

class Connection {
 public:
  // Reads in_fd and writes out_fd. Closes neither.
  Connection(int in_fd, int out_fd);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The next message; Idle after `wait`. Repeats End at the end.
  Incoming receive(std::chrono::milliseconds wait);
  // Makes the current or next `receive` return Idle. Thread-safe.
  void interrupt();
  // True if the last received or a pending request was cancelled.
  bool cancelled(const Json& id) const;

  void reply(const Json& id, Json result);
  void fail(const Json& id, int code, std::string_view message);
  void notify(std::string_view method, Json params);
  // False after a failed write: the client is gone.
  bool writable() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::lsp

// Predictions over HTTP.
//
//   POST /predict   a PNG or JPEG as the body, or JSON {"images": ["BASE64", ...]} ("image" for one)
//                   -> {"model": ..., "predictions": [{"class", "label", "probability", "probabilities"}]}
//   GET  /health    {"status": "ok", ...}; 503 while stopping
//   GET  /metrics   Prometheus text
//
// Requests that arrive together are run as one batch. Errors are {"error": "..."} with a fitting status: 400
// what was sent is wrong (with the image's number), 404, 405, 413 too large, 503 too much to do (with
// Retry-After).
//
// All requests share one budget of memory, and no client holds a connection for longer than its phase may
// take (common/http_server/connections.h): /health and /metrics are answered whatever others send or do not
// send.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/http_server/server.h"
#include "common/status.h"
#include "engine/serve/predictor.h"

namespace radl::engine::serve {

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8080;               // 0: any free one
  double batch_wait_seconds = 0.002;  // how long the first image of a batch waits for others
  size_t largest_body = size_t{32} << 20;
  size_t queue = 1024;                  // images that may wait; more are 503
  httpd::ConnectionLimits connections;  // for all clients together
  // For all requests together, in bytes; what finds no room is 503. Half is for bodies and answers, half for
  // decoding, which waits its turn.
  size_t memory = size_t{768} << 20;
  double decode_wait_seconds = 10;                // before it is 503
  uint64_t request_pixels = uint64_t{256} << 20;  // of a request's images together; more are 413
};

class Server {
 public:
  // Listens when it returns. Conflict: the address is in use; Invalid: it is none.
  static Result<std::unique_ptr<Server>> start(std::unique_ptr<Predictor> predictor,
                                               const ServerOptions& options);
  ~Server();  // answers what it has, then stops
  uint16_t port() const;
  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::engine::serve

// Predictions over HTTP.
//
//   POST /predict   a PNG or JPEG as the body, or JSON {"images": ["BASE64", ...]} ("image" for one)
//                   -> {"model": ..., "predictions": [{"class", "label", "probability", "probabilities"}]}
//   GET  /health    {"status": "ok", ...}; 503 while stopping
//   GET  /metrics   Prometheus text
//
// Concurrent requests are run as one batch. Errors are {"error": "..."} with a status: 400
// invalid request (with the image's number), 404, 405, 413 too large, 503 overloaded (with
// Retry-After).
//
// All requests share one memory budget, and each phase of a connection has a time limit
// (common/http_server/connections.h), so /health and /metrics respond whatever other clients send
// or do not send, and however slowly they read.
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
  uint16_t port = 8080;               // 0: any free port
  double batch_wait_seconds = 0.002;  // how long the first image of a batch waits for more
  size_t largest_body = size_t{32} << 20;
  size_t queue = 1024;                  // images that may wait; 503 beyond
  httpd::ConnectionLimits connections;  // for all clients in total
  // Bytes for all requests in total; 503 if a request finds no room. Half is for bodies and responses, half
  // for decoding, which waits for its turn.
  size_t memory = size_t{768} << 20;
  double decode_wait_seconds = 10;                // 503 after this wait
  uint64_t request_pixels = uint64_t{256} << 20;  // of all images of a request; 413 beyond
};

class Server {
 public:
  // Listens on return. Conflict: the address is in use. Invalid: it is not an address.
  static Result<std::unique_ptr<Server>> start(std::unique_ptr<Predictor> predictor,
                                               const ServerOptions& options);
  ~Server();  // answers accepted requests, then stops
  uint16_t port() const;
  struct Impl;

 private:
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace radl::engine::serve

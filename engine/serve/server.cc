#include "engine/serve/server.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "common/clock.h"
#include "engine/data/dataset.h"
#include "engine/serve/answers.h"
#include "engine/serve/batcher.h"
#include "engine/serve/budget.h"
#include "engine/serve/metrics.h"
#include "engine/serve/request_body.h"

namespace radl::engine::serve {
namespace {

// Predictions that wait for their batch at once; more wait in the queue.
constexpr size_t kWorkers = 64;

// What has arrived of one request, and what it holds of what all share.
struct Request {
  std::string body;
  uint64_t charged = 0;  // for the body
  Budget::Charge place, bytes;
};

Answer busy() { return error_answer(503, "too much is being done; try again"); }

Answer not_allowed(const std::string& path, const char* allowed) {
  Answer answer = error_answer(405, path + " takes " + allowed);
  answer.headers.emplace_back("Allow", allowed);
  return answer;
}

}  // namespace

struct Server::Impl : httpd::Handler {
  Impl(std::unique_ptr<Predictor> predictor, const ServerOptions& o)
      : options(o),
        // Less than all connections, so that some are left for those who ask for something else.
        predicting(o.connections.most - o.connections.most / 8),
        waiting(o.queue),
        bytes(o.memory / 2),
        decoding(o.memory / 2),
        batcher(std::make_unique<Batcher>(std::move(predictor), o.batch_wait_seconds, o.queue)) {}
  ~Impl() override {
    stopping = true;
    decoding.close();
    server.reset();  // gives the answers that are being made
    batcher.reset();
  }

  const ServerOptions options;
  Budget predicting, waiting, bytes, decoding;
  std::unique_ptr<Batcher> batcher;
  Metrics metrics;
  std::atomic<bool> stopping{false};
  std::unique_ptr<httpd::Server> server;

  std::variant<Answer, std::unique_ptr<httpd::Exchange>> begin(const httpd::RequestHead& head) override;
  Answer refuse(int status, const std::string& why) override { return error_answer(status, why); }
  void answered(const httpd::RequestHead& head, int status, double seconds) override {
    metrics.request(head.path, status, seconds);
  }
  std::optional<Answer> receive(Request& r, std::string_view data);
  Answer predict(Request& r);

 private:
  const exporter::Bundle& bundle() const { return batcher->predictor().bundle(); }
  Answer too_large() const {
    return error_answer(413, "the body is larger than " + std::to_string(options.largest_body) + " bytes");
  }
  Result<std::vector<std::vector<uint8_t>>> decode(std::vector<std::string> files);
};

namespace {

struct PredictExchange : httpd::Exchange {
  PredictExchange(Server::Impl& s, Request r) : server(s), request(std::move(r)) {}
  std::optional<Answer> receive(std::string_view part) override { return server.receive(request, part); }
  Answer finish() override { return server.predict(request); }
  Server::Impl& server;
  Request request;
};

}  // namespace

// Takes a place among the predictions; the memory for the body is taken as it arrives.
std::variant<Answer, std::unique_ptr<httpd::Exchange>> Server::Impl::begin(const httpd::RequestHead& head) {
  const bool get = head.method == "GET" || head.method == "HEAD";
  if (head.path == "/predict") {
    if (head.method != "POST") return not_allowed(head.path, "POST");
    if (stopping) return error_answer(503, "stopping");
    const uint64_t size = head.length().value_or(0);
    if (size > options.largest_body) return too_large();
    auto place = predicting.try_take(1);
    auto none = bytes.try_take(0);
    if (!place || !none) return busy();
    Request request{.place = std::move(*place), .bytes = std::move(*none)};
    request.body.reserve(size);  // touched, and charged, as it arrives
    return std::make_unique<PredictExchange>(*this, std::move(request));
  }
  if (head.path != "/health" && head.path != "/metrics" && head.path != "/")
    return error_answer(404, "there is /predict, /health and /metrics");
  if (!get) return not_allowed(head.path, "GET, HEAD");
  if (head.path == "/metrics")
    return Answer{.body = metrics.text(batcher->counts()), .type = "text/plain; version=0.0.4"};
  if (stopping) return error_answer(503, "stopping");
  return health_answer(bundle());
}

std::optional<Answer> Server::Impl::receive(Request& r, std::string_view data) {
  const uint64_t size = r.body.size() + data.size();
  if (size > options.largest_body) return too_large();
  uint64_t room = size;
  if (size > r.body.capacity())
    room = std::clamp<uint64_t>(2 * r.body.capacity(), size, options.largest_body);
  if (room > r.charged) {
    if (!r.bytes.grow(room - r.charged)) return busy();
    r.charged = room;
  }
  r.body.reserve(room);
  r.body.append(data);
  return {};
}

Result<std::vector<std::vector<uint8_t>>> Server::Impl::decode(std::vector<std::string> files) {
  const auto until =
      SteadyClock::now() + std::chrono::microseconds(int64_t(options.decode_wait_seconds * 1e6));
  std::vector<std::vector<uint8_t>> images;
  uint64_t all_pixels = 0;
  for (std::string& file : files) {
    std::optional<Budget::Charge> room;
    data::DecodeLimits limits;
    limits.admit = [&](uint64_t pixels, uint64_t needed) -> Status {
      all_pixels += pixels;
      if (all_pixels > options.request_pixels)
        return {Code::Quota,
                "more than " + std::to_string(options.request_pixels) + " pixels in one request"};
      if (needed > decoding.capacity())
        return {Code::Quota, "needs " + std::to_string(needed >> 20) + " MiB to decode, at most " +
                                 std::to_string(decoding.capacity() >> 20) + " are taken"};
      room = decoding.take(needed, until);
      return room ? Status() : Status(Code::Retry, "too many large images are being decoded; try again");
    };
    auto image = batcher->predictor().decode(file, limits);
    if (!image.ok()) return Status(image.status()).at("image " + std::to_string(images.size()));
    images.push_back(std::move(*image));
    std::string().swap(file);
  }
  return images;
}

Answer Server::Impl::predict(Request& r) {
  if (!r.bytes.grow(r.body.size())) return busy();  // what JSON holds, decoded
  auto files = images_in(std::move(r.body), options.queue);
  if (!files.ok()) return error_answer(files.status());
  const size_t count = files->size();
  const uint64_t held =
      predictions_bytes(bundle(), count) +
      count * (data::pixel_count(bundle().input) + sizeof(float) * size_t(bundle().classes));
  if (held > bytes.capacity())
    return error_answer(413,
                        std::to_string(count) + " images with all their probabilities are too many at once");
  auto places = waiting.try_take(count);
  if (!places || !r.bytes.grow(held)) return error_answer(503, "too many images are waiting; try again");
  auto images = decode(std::move(*files));
  if (!images.ok()) return error_answer(images.status());
  auto futures = batcher->submit(std::move(*images));
  if (futures.empty()) return error_answer(503, "too many images are waiting; try again");
  std::vector<Prediction> predictions;
  for (auto& future : futures) predictions.push_back(future.get());
  return predictions_answer(bundle(), predictions);
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(std::unique_ptr<Predictor> predictor, const ServerOptions& o) {
  auto impl = std::make_unique<Impl>(std::move(predictor), o);
  httpd::ServerOptions http{.address = o.address, .port = o.port, .connections = o.connections};
  http.workers = std::min(kWorkers, o.connections.most);
  http.queue = o.connections.most;
  auto server = httpd::Server::start(*impl, http);
  if (!server.ok()) return server.status();
  impl->server = std::move(*server);
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const { return impl_->server->port(); }

}  // namespace radl::engine::serve

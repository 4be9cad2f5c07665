#include "engine/serve/server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <new>

#include "common/clock.h"
#include "common/files.h"
#include "engine/data/dataset.h"
#include "engine/serve/answers.h"
#include "engine/serve/batcher.h"
#include "engine/serve/budget.h"
#include "engine/serve/metrics.h"
#include "engine/serve/request_body.h"

namespace radl::engine::serve {
namespace {

// Connections above the wanted number, for those whose threads are still ending.
constexpr unsigned kSpareConnections = 64;
constexpr size_t kThreadStack = size_t{1} << 20, kConnectionMemory = size_t{64} << 10;

// What has arrived of one request, and what it holds of what all share.
struct Request {
  Connections::Connection* connection = nullptr;
  bool wants_body = false;
  std::string body;
  uint64_t charged = 0;  // for the body
  Budget::Charge place, bytes;
  std::optional<Answer> refused;  // answered when the body is over

  void refuse(Answer answer) {
    refused = std::move(answer);
    std::string().swap(body);
    bytes.release(), place.release();
  }
};

Answer busy() { return error_answer(503, "too much is being done; try again"); }

}  // namespace

struct Server::Impl {
  Impl(std::unique_ptr<Predictor> predictor, const ServerOptions& o)
      : options(o),
        connections(o.connections),
        // Less than all connections, so that some are left for those who ask for something else.
        predicting(o.connections.most - o.connections.most / 8),
        waiting(o.queue),
        bytes(o.memory / 2),
        decoding(o.memory / 2),
        batcher(std::make_unique<Batcher>(std::move(predictor), o.batch_wait_seconds, o.queue)) {}
  ~Impl() {
    stopping = true;
    decoding.close();
    if (daemon) MHD_stop_daemon(daemon);  // waits for the connections' threads
    batcher.reset();
  }

  const ServerOptions options;
  Connections connections;
  Budget predicting, waiting, bytes, decoding;
  std::unique_ptr<Batcher> batcher;
  Metrics metrics;
  std::atomic<bool> stopping{false};
  MHD_Daemon* daemon = nullptr;

  void begin(Request& r, std::string_view method, std::string_view path, const char* length);
  void receive(Request& r, std::string_view data);
  Answer answer(const std::string& method, const std::string& path, Request& r);

 private:
  const exporter::Bundle& bundle() const { return batcher->predictor().bundle(); }
  Answer too_large() const {
    return error_answer(413, "the body is larger than " + std::to_string(options.largest_body) + " bytes");
  }
  Answer predict(Request& r);
  Result<std::vector<std::vector<uint8_t>>> decode(std::vector<std::string> files);
};

// Takes a place among the predictions; the memory for the body is taken as it arrives.
void Server::Impl::begin(Request& r, std::string_view method, std::string_view path, const char* length) {
  r.wants_body = path == "/predict" && method == "POST";
  if (!r.wants_body) return;
  if (stopping) return r.refuse(error_answer(503, "stopping"));
  uint64_t size = 0;
  if (length) {
    const std::string_view text = length;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
    if (error != std::errc() || size > options.largest_body) return r.refuse(too_large());
  }
  auto place = predicting.try_take(1);
  auto none = bytes.try_take(0);
  if (!place || !none) return r.refuse(busy());
  r.place = std::move(*place), r.bytes = std::move(*none);
  r.body.reserve(size);  // touched, and charged, as it arrives
}

void Server::Impl::receive(Request& r, std::string_view data) {
  if (!r.wants_body || r.refused) return;
  const uint64_t size = r.body.size() + data.size();
  if (size > options.largest_body) return r.refuse(too_large());
  uint64_t room = size;
  if (size > r.body.capacity())
    room = std::clamp<uint64_t>(2 * r.body.capacity(), size, options.largest_body);
  if (room > r.charged) {
    if (!r.bytes.grow(room - r.charged)) return r.refuse(busy());
    r.charged = room;
  }
  r.body.reserve(room);
  r.body.append(data);
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

Answer Server::Impl::answer(const std::string& method, const std::string& path, Request& r) {
  const bool get = method == "GET" || method == "HEAD";
  if (r.refused) return std::move(*r.refused);
  if (path == "/predict") return r.wants_body ? predict(r) : error_answer(405, "/predict takes POST");
  if (path != "/health" && path != "/metrics" && path != "/")
    return error_answer(404, "there is /predict, /health and /metrics");
  if (!get) return error_answer(405, path + " takes GET");
  if (path == "/metrics") return {200, metrics.text(batcher->counts()), "text/plain; version=0.0.4"};
  if (stopping) return error_answer(503, "stopping");
  return health_answer(bundle());
}

namespace {

using Phase = Connections::Phase;

MHD_Result send(MHD_Connection* connection, std::string_view url, Answer answer) {
  auto* body = new std::string(std::move(answer.body));
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      body->size(), body->data(), [](void* held) { delete static_cast<std::string*>(held); }, body);
  if (!response) return delete body, MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
  if (answer.status == 503) MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
  if (answer.status == 405)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, url == "/predict" ? "POST" : "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, unsigned(answer.status), response);
  MHD_destroy_response(response);
  return queued;
}

MHD_Result finish(Server::Impl& server, MHD_Connection* connection, const char* url, const char* method,
                  Request& request) {
  server.connections.set_phase(request.connection, Phase::Working);
  const auto begin = SteadyClock::now();
  Answer answer;
  try {
    answer = server.answer(method, url, request);
  } catch (const std::bad_alloc&) {
    answer = error_answer(503, "out of memory");
  }
  server.metrics.request(url, answer.status, seconds_since(begin));
  server.connections.set_phase(request.connection, Phase::Answering);
  return send(connection, url, std::move(answer));
}

MHD_Result on_request(void* context, MHD_Connection* connection, const char* url, const char* method,
                      const char*, const char* data, size_t* size, void** state) {
  auto& server = *static_cast<Server::Impl*>(context);
  const auto header = [&](const char* name) {
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  };
  if (!*state) {
    auto* request = new Request;
    *state = request;
    request->connection = static_cast<Connections::Connection*>(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
    server.connections.set_phase(request->connection, Phase::Body);
    try {
      server.begin(*request, method, url, header(MHD_HTTP_HEADER_CONTENT_LENGTH));
    } catch (const std::bad_alloc&) {
      request->refuse(busy());
    }
    // A client that waits for permission gets it at once; others read only when they have sent everything.
    if (request->refused && header(MHD_HTTP_HEADER_EXPECT))
      return finish(server, connection, url, method, *request);
    return MHD_YES;
  }
  auto& request = *static_cast<Request*>(*state);
  if (*size == 0) return finish(server, connection, url, method, request);
  try {
    server.receive(request, {data, *size});
  } catch (const std::bad_alloc&) {
    request.refuse(busy());
  }
  *size = 0;
  return MHD_YES;
}

void on_completed(void* context, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
  auto* request = static_cast<Request*>(*state);
  if (request) static_cast<Server::Impl*>(context)->connections.set_phase(request->connection, Phase::Idle);
  delete request;
  *state = nullptr;
}

void on_connection(void* context, MHD_Connection* connection, void** socket_context,
                   MHD_ConnectionNotificationCode what) {
  auto& connections = static_cast<Server::Impl*>(context)->connections;
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    *socket_context = connections.opened(
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd);
  else
    connections.closed(static_cast<Connections::Connection*>(*socket_context));
}

}  // namespace

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::start(std::unique_ptr<Predictor> predictor, const ServerOptions& o) {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  sockaddr* address = nullptr;
  unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL;
  if (::inet_pton(AF_INET, o.address.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(o.port);
    address = reinterpret_cast<sockaddr*>(&v4);
  } else if (::inet_pton(AF_INET6, o.address.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(o.port);
    address = reinterpret_cast<sockaddr*>(&v6);
    flags |= MHD_USE_IPv6;
  } else {
    return invalid("\"" + o.address + "\" is no IP address to listen on");
  }
  auto impl = std::make_unique<Impl>(std::move(predictor), o);
  impl->daemon =
      MHD_start_daemon(flags, o.port, nullptr, nullptr, on_request, impl.get(), MHD_OPTION_SOCK_ADDR, address,
                       MHD_OPTION_NOTIFY_COMPLETED, on_completed, impl.get(), MHD_OPTION_NOTIFY_CONNECTION,
                       on_connection, impl.get(), MHD_OPTION_CONNECTION_LIMIT,
                       unsigned(o.connections.most) + kSpareConnections, MHD_OPTION_THREAD_STACK_SIZE,
                       kThreadStack, MHD_OPTION_CONNECTION_MEMORY_LIMIT, kConnectionMemory, MHD_OPTION_END);
  if (!impl->daemon) {
    const int error = errno;
    if (error == EADDRINUSE)
      return Status(Code::Conflict,
                    o.address + ":" + std::to_string(o.port) + ": another program listens there");
    return errno_status(error, "listening on " + o.address + ":" + std::to_string(o.port));
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const {
  const MHD_DaemonInfo* info = MHD_get_daemon_info(impl_->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

}  // namespace radl::engine::serve

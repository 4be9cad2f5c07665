#include "engine/serve/server.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>

#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/files.h"
#include "engine/serve/metrics.h"

namespace radl::engine::serve {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Answer {
  int status = 200;
  std::string body;
  const char* type = "application/json";
};

Answer error(int status, const std::string& text) {
  return {status, Json{{"error", text}}.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

// What has arrived of one request.
struct Incoming {
  std::string body;
  bool too_large = false;
};

}  // namespace

struct Server::Impl {
  ServerOptions options;
  std::unique_ptr<Batcher> batcher;
  Metrics metrics;
  std::atomic<bool> stopping{false};
  MHD_Daemon* daemon = nullptr;

  ~Impl() {
    stopping = true;
    if (daemon) MHD_stop_daemon(daemon);  // waits for the connections' threads
    batcher.reset();
  }
  Answer answer(const std::string& method, const std::string& path, const Incoming& in);
  Answer predict(const std::string& body);
  Result<std::vector<std::vector<uint8_t>>> pictures_of(const std::string& body) const;
  Status too_many(size_t pictures) const;
};

Result<std::vector<std::vector<uint8_t>>> Server::Impl::pictures_of(const std::string& body) const {
  std::vector<std::vector<uint8_t>> pictures;
  auto add = [&](std::string_view bytes) -> Status {
    auto picture = batcher->predictor().decode(bytes);
    if (!picture.ok()) return Status(picture.status()).at("picture " + std::to_string(pictures.size()));
    pictures.push_back(std::move(*picture));
    return {};
  };
  const size_t first = body.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return invalid("the body is empty: send a PNG, a JPEG, or JSON");
  if (body[first] != '{') {
    if (Status s = add(body); !s.ok()) return s;
    return pictures;
  }
  const auto json = nlohmann::json::parse(body, nullptr, false);
  if (!json.is_object()) return invalid("the body is not JSON");
  // Never copied: a copy recurses as deep as a stranger nests.
  std::vector<const nlohmann::json*> list;
  if (json.contains("image")) {
    list.push_back(&json["image"]);
  } else if (json.contains("images") && json["images"].is_array()) {
    for (const auto& item : json["images"]) list.push_back(&item);
  }
  if (list.empty()) return invalid("JSON needs \"image\" or \"images\": pictures as base64");
  if (list.size() > options.queue) return too_many(list.size());
  for (const nlohmann::json* item : list) {
    auto bytes = item->is_string() ? base64_decode(item->get_ref<const std::string&>())
                                   : Result<std::string>(invalid("no text"));
    if (!bytes.ok()) return invalid("picture " + std::to_string(pictures.size()) + ": is no base64 text");
    if (Status s = add(*bytes); !s.ok()) return s;
  }
  return pictures;
}

Status Server::Impl::too_many(size_t pictures) const {
  return {Code::Quota, std::to_string(pictures) + " pictures in one request, at most " +
                           std::to_string(options.queue) + " are taken"};
}

Answer Server::Impl::predict(const std::string& body) {
  auto pictures = pictures_of(body);
  if (!pictures.ok())
    return error(pictures.status().code() == Code::Quota ? 413 : 400, pictures.status().message());
  auto futures = batcher->submit(std::move(*pictures));
  if (futures.empty()) return error(503, "too many pictures are waiting; try again");
  const auto& bundle = batcher->predictor().bundle();
  Json out = {{"model", bundle.name}, {"predictions", Json::array()}};
  for (auto& future : futures) {
    const Prediction p = future.get();
    out["predictions"].push_back({{"class", p.best},
                                  {"label", exporter::class_label(bundle, p.best)},
                                  {"probability", p.probabilities[size_t(p.best)]},
                                  {"probabilities", p.probabilities}});
  }
  return {200, out.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

Answer Server::Impl::answer(const std::string& method, const std::string& path, const Incoming& in) {
  const bool get = method == "GET" || method == "HEAD";
  if (path == "/predict") {
    if (method != "POST") return error(405, "/predict takes POST");
    if (in.too_large)
      return error(413, "the body is larger than " + std::to_string(options.largest_body) + " bytes");
    return predict(in.body);
  }
  if (path != "/health" && path != "/metrics" && path != "/")
    return error(404, "there is /predict, /health and /metrics");
  if (!get) return error(405, path + " takes GET");
  if (path == "/metrics") return {200, metrics.text(batcher->counts()), "text/plain; version=0.0.4"};
  if (stopping) return error(503, "stopping");
  const auto& b = batcher->predictor().bundle();
  return {200, Json{{"status", "ok"},
                    {"model", b.name},
                    {"classes", b.classes},
                    {"class_names", b.class_names},
                    {"input", {b.input.height, b.input.width, b.input.channels}}}
                       .dump(-1, ' ', false, Json::error_handler_t::replace) +
                   "\n"};
}

namespace {

MHD_Result on_request(void* context, MHD_Connection* connection, const char* url, const char* method,
                      const char*, const char* data, size_t* size, void** state) {
  auto* server = static_cast<Server::Impl*>(context);
  if (!*state) {
    *state = new Incoming;
    return MHD_YES;
  }
  auto* in = static_cast<Incoming*>(*state);
  if (*size > 0) {
    if (in->body.size() + *size > server->options.largest_body) {
      in->too_large = true;
      in->body.clear();
    }
    if (!in->too_large) in->body.append(data, *size);
    *size = 0;
    return MHD_YES;
  }
  const auto begin = Clock::now();
  Answer answer;
  try {
    answer = server->answer(method, url, *in);
  } catch (const std::bad_alloc&) {
    answer = error(503, "out of memory");
  }
  server->metrics.request(url, answer.status, std::chrono::duration<double>(Clock::now() - begin).count());
  MHD_Response* response =
      MHD_create_response_from_buffer(answer.body.size(), answer.body.data(), MHD_RESPMEM_MUST_COPY);
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type);
  if (answer.status == 503) MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, "1");
  if (answer.status == 405)
    MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW,
                            std::string_view(url) == "/predict" ? "POST" : "GET, HEAD");
  const MHD_Result queued = MHD_queue_response(connection, unsigned(answer.status), response);
  MHD_destroy_response(response);
  return queued;
}

void on_completed(void*, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
  delete static_cast<Incoming*>(*state);
  *state = nullptr;
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
  auto impl = std::make_unique<Impl>();
  impl->options = o;
  impl->batcher = std::make_unique<Batcher>(std::move(predictor), o.batch_wait_seconds, o.queue);
  impl->daemon =
      MHD_start_daemon(flags, o.port, nullptr, nullptr, on_request, impl.get(), MHD_OPTION_SOCK_ADDR, address,
                       MHD_OPTION_NOTIFY_COMPLETED, on_completed, nullptr, MHD_OPTION_CONNECTION_LIMIT,
                       o.connections, MHD_OPTION_CONNECTION_TIMEOUT, 60u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                       size_t{64} << 10, MHD_OPTION_END);
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

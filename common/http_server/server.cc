#include "common/http_server/server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <thread>
#include <tuple>

#include "common/clock.h"
#include "common/fd.h"
#include "common/files.h"
#include "common/http_server/guard.h"
#include "common/http_server/workers.h"
#include "common/text.h"

namespace radl::httpd {
namespace {

using Phase = Connections::Phase;

// Connections above the wanted number, for those that are being closed.
constexpr unsigned kSpareConnections = 64;
constexpr size_t kFileBlock = size_t{16} << 10;
constexpr size_t kStreamBlock = size_t{1} << 10;  // of HTTP/1.0 alone: chunks need none

// One request, from its first line until its answer has gone.
struct Request {
  std::string target;  // as sent
  RequestHead head;
  SteadyClock::time_point since = SteadyClock::now();
  Connections::Connection* connection = nullptr;
  std::unique_ptr<Exchange> exchange;
  std::optional<Answer> answer;
  size_t body_in_step = 0;
  bool begun = false;
  bool at_once = false;  // answered before its body was read
};

std::string peer_of(MHD_Connection* connection) {
  const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  char text[INET6_ADDRSTRLEN] = "";
  if (!info || !info->client_addr) return {};
  if (info->client_addr->sa_family == AF_INET)
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(info->client_addr)->sin_addr, text,
                sizeof text);
  else if (info->client_addr->sa_family == AF_INET6)
    ::inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6*>(info->client_addr)->sin6_addr, text,
                sizeof text);
  return text;
}

MHD_Result add_header(void* to, MHD_ValueKind, const char* name, size_t name_size, const char* value,
                      size_t value_size) {
  static_cast<std::vector<HeaderPlace>*>(to)->push_back(
      {{name, name_size}, {value ? value : name + name_size, value ? value_size : 0}});
  return MHD_YES;
}

}  // namespace

void Handler::answered(const RequestHead&, int, double) {}

struct Server::Impl {
  Impl(Handler& h, const ServerOptions& o)
      : options(o), handler(h), connections(o.connections), workers(o.workers, o.queue) {}

  const ServerOptions options;
  Handler& handler;
  Connections connections;
  Streams streams;
  Workers workers;
  MHD_Daemon* daemon = nullptr;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopping = false;
  std::jthread beats;

  std::optional<std::string> read_head(Request& r, MHD_Connection* c, const char* method,
                                       const char* version);
  void begin(Request& r, MHD_Connection* c, const char* method, const char* version);
  void receive(Request& r, std::string_view part);
  MHD_Result work(Request& r, MHD_Connection* c);
  MHD_Result send(Request& r, MHD_Connection* c);
  MHD_Response* response_of(Request& r, MHD_Connection* c, Answer& answer);
  void beat();

  // What a handler throws becomes an answer.
  template <class F>
  void guarded(Request& r, F&& call) {
    try {
      call();
    } catch (const std::bad_alloc&) {
      r.exchange.reset();
      r.answer = handler.refuse(503, "out of memory");
    } catch (const std::exception&) {
      r.exchange.reset();
      r.answer = handler.refuse(500, "internal error");
    }
  }
};

std::optional<std::string> Server::Impl::read_head(Request& r, MHD_Connection* c, const char* method,
                                                   const char* version) {
  std::vector<HeaderPlace> places;
  MHD_get_connection_values_n(c, MHD_HEADER_KIND, add_header, &places);
  r.head.method = method;
  r.head.peer = peer_of(c);
  for (const HeaderPlace& h : places) r.head.headers.emplace_back(to_lower(h.name), h.value);
  if (auto why = malformed(method, version, places)) return why;
  auto target = split_target(r.target);
  if (!target.ok()) return target.status().message();
  std::tie(r.head.path, r.head.query) = std::move(*target);
  return {};
}

void Server::Impl::begin(Request& r, MHD_Connection* c, const char* method, const char* version) {
  r.begun = true;
  r.connection = static_cast<Connections::Connection*>(
      MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context);
  connections.set_phase(r.connection, Phase::Body);
  guarded(r, [&] {
    if (const auto why = read_head(r, c, method, version)) {
      r.answer = handler.refuse(400, *why);
      r.answer->headers.emplace_back(MHD_HTTP_HEADER_CONNECTION, "close");
      r.at_once = true;  // nobody knows where its body would end
      return;
    }
    auto begun = handler.begin(r.head);
    if (auto* answer = std::get_if<Answer>(&begun))
      r.answer = std::move(*answer);
    else
      r.exchange = std::move(std::get<std::unique_ptr<Exchange>>(begun));
  });
}

void Server::Impl::receive(Request& r, std::string_view part) {
  r.body_in_step += part.size();
  if (r.body_in_step >= options.connections.body_step) {
    r.body_in_step = 0;
    connections.set_phase(r.connection, Phase::Body);
  }
  if (!r.exchange || r.answer) return;
  guarded(r, [&] { r.answer = r.exchange->receive(part); });
  if (r.answer) r.exchange.reset();
}

// Suspended first: the worker may be done before submit() returns.
MHD_Result Server::Impl::work(Request& r, MHD_Connection* c) {
  connections.set_phase(r.connection, Phase::Working);
  MHD_suspend_connection(c);
  const bool taken = workers.submit([this, &r, c] {
    guarded(r, [&] { r.answer = r.exchange->finish(); });
    r.exchange.reset();
    MHD_resume_connection(c);
  });
  if (!taken) {
    r.exchange.reset();
    r.answer = handler.refuse(429, "too many requests are waiting; try again");
    r.answer->headers.emplace_back(MHD_HTTP_HEADER_RETRY_AFTER, "1");
    MHD_resume_connection(c);
  }
  return MHD_YES;
}

namespace {

struct Reader {
  Server::Impl* server;
  Connections::Connection* connection;
  std::shared_ptr<Streams::Stream> stream;
};

ssize_t read_stream(void* context, uint64_t, char* to, size_t most) {
  auto& reader = *static_cast<Reader*>(context);
  auto& connections = reader.server->connections;
  connections.set_phase(reader.connection, Phase::Streaming);
  return reader.stream->read(to, most, [&] { connections.set_phase(reader.connection, Phase::Working); });
}

void free_stream(void* context) {
  auto* reader = static_cast<Reader*>(context);
  reader->stream->closed();
  delete reader;
}

struct OpenFile {
  OpenFile(Server::Impl* s, Connections::Connection* c, int fd) : server(s), connection(c), file(fd) {}
  Server::Impl* server;
  Connections::Connection* connection;
  Fd file;
};

ssize_t read_file(void* context, uint64_t position, char* to, size_t most) {
  auto& open = *static_cast<OpenFile*>(context);
  open.server->connections.set_phase(open.connection, Phase::Answering);
  const ssize_t count = ::pread(open.file.get(), to, most, off_t(position));
  return count > 0 ? count : MHD_CONTENT_READER_END_WITH_ERROR;
}

MHD_Response* file_response(Server::Impl& server, Connections::Connection* connection,
                            const std::string& path) {
  auto file = std::make_unique<OpenFile>(
      &server, connection, ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat about {};
  if (::fstat(file->file.get(), &about) != 0 || !S_ISREG(about.st_mode)) return nullptr;
  return MHD_create_response_from_callback(uint64_t(about.st_size), kFileBlock, read_file, file.release(),
                                           [](void* context) { delete static_cast<OpenFile*>(context); });
}

MHD_Response* text_response(std::string text) {
  auto* body = new std::string(std::move(text));
  MHD_Response* response = MHD_create_response_from_buffer_with_free_callback_cls(
      body->size(), body->data(), [](void* held) { delete static_cast<std::string*>(held); }, body);
  if (!response) delete body;
  return response;
}

}  // namespace

MHD_Response* Server::Impl::response_of(Request& r, MHD_Connection* c, Answer& answer) {
  if (answer.stream) {
    auto stream = streams.open(c, std::move(answer.stream), answer.type.starts_with("text/event-stream"));
    auto* reader = new Reader{this, r.connection, std::move(stream)};
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, kStreamBlock, read_stream, reader,
                                             free_stream);
  }
  if (!answer.file.empty()) {
    if (MHD_Response* response = file_response(*this, r.connection, answer.file)) return response;
    answer = handler.refuse(500, "the file cannot be read");
  }
  return text_response(std::move(answer.body));
}

MHD_Result Server::Impl::send(Request& r, MHD_Connection* c) {
  connections.set_phase(r.connection, Phase::Answering);
  Answer answer = std::move(*r.answer);
  MHD_Response* response = response_of(r, c, answer);
  if (!response) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer.type.c_str());
  for (const auto& [name, value] : answer.headers)
    MHD_add_response_header(response, name.c_str(), value.c_str());
  const MHD_Result queued = MHD_queue_response(c, unsigned(answer.status), response);
  MHD_destroy_response(response);
  handler.answered(r.head, answer.status, seconds_since(r.since));
  return queued;
}

void Server::Impl::beat() {
  std::unique_lock lock(mutex);
  const auto every = std::chrono::duration<double>(options.beat_seconds);
  while (!wake.wait_for(lock, every, [&] { return stopping; })) {
    lock.unlock();
    streams.beat();
    lock.lock();
  }
}

namespace {

MHD_Result on_request(void* context, MHD_Connection* connection, const char*, const char* method,
                      const char* version, const char* data, size_t* size, void** state) {
  auto& server = *static_cast<Server::Impl*>(context);
  auto& request = *static_cast<Request*>(*state);
  if (!request.begun) {
    server.begin(request, connection, method, version);
    // A client that waits for permission gets it at once; others read only when they have sent everything.
    const bool at_once = request.answer && (request.at_once || request.head.header("expect"));
    return at_once ? server.send(request, connection) : MHD_YES;
  }
  if (*size > 0) {
    server.receive(request, {data, *size});
    *size = 0;
    return MHD_YES;
  }
  return request.answer ? server.send(request, connection) : server.work(request, connection);
}

// The first that is heard of a request: its target as it was sent.
void* on_target(void*, const char* target, MHD_Connection*) {
  auto* request = new Request;
  request->target = target;
  return request;
}

void on_completed(void* context, MHD_Connection*, void** state, MHD_RequestTerminationCode) {
  auto* request = static_cast<Request*>(*state);
  if (request && request->connection)
    static_cast<Server::Impl*>(context)->connections.set_phase(request->connection, Phase::Idle);
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

size_t as_sent(void*, MHD_Connection*, char* text) { return std::strlen(text); }

struct Address {
  sockaddr_in v4{};
  sockaddr_in6 v6{};
  sockaddr* chosen = nullptr;
  unsigned flags = 0;
};

bool parse_address(const ServerOptions& o, Address& a) {
  if (::inet_pton(AF_INET, o.address.c_str(), &a.v4.sin_addr) == 1) {
    a.v4.sin_family = AF_INET;
    a.v4.sin_port = htons(o.port);
    a.chosen = reinterpret_cast<sockaddr*>(&a.v4);
    return true;
  }
  if (::inet_pton(AF_INET6, o.address.c_str(), &a.v6.sin6_addr) != 1) return false;
  a.v6.sin6_family = AF_INET6;
  a.v6.sin6_port = htons(o.port);
  a.chosen = reinterpret_cast<sockaddr*>(&a.v6);
  a.flags = MHD_USE_IPv6;
  return true;
}

MHD_Daemon* start_daemon(Server::Impl& impl, const Address& address) {
  const ServerOptions& o = impl.options;
  const bool tls = !o.certificate.empty();
  const unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | address.flags |
                         (tls ? unsigned(MHD_USE_TLS) : 0u);
  std::vector<MHD_OptionItem> extra;
  if (tls) {
    extra.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(o.certificate.c_str())});
    extra.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(o.key.c_str())});
    extra.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0,
                     const_cast<char*>("NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:%SERVER_PRECEDENCE")});
  }
  extra.push_back({MHD_OPTION_END, 0, nullptr});
  return MHD_start_daemon(flags, o.port, nullptr, nullptr, on_request, &impl, MHD_OPTION_SOCK_ADDR,
                          address.chosen, MHD_OPTION_URI_LOG_CALLBACK, on_target, &impl,
                          MHD_OPTION_UNESCAPE_CALLBACK, as_sent, &impl, MHD_OPTION_NOTIFY_COMPLETED,
                          on_completed, &impl, MHD_OPTION_NOTIFY_CONNECTION, on_connection, &impl,
                          MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_CONNECTION_LIMIT,
                          unsigned(o.connections.most + o.workers + o.queue + o.streams) + kSpareConnections,
                          MHD_OPTION_CONNECTION_MEMORY_LIMIT, o.head_bytes, MHD_OPTION_THREAD_POOL_SIZE,
                          unsigned(o.threads), MHD_OPTION_ARRAY, extra.data(), MHD_OPTION_END);
}

}  // namespace

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(); }

void Server::stop() {
  if (!impl_->daemon) return;
  const MHD_socket listening = MHD_quiesce_daemon(impl_->daemon);
  impl_->workers.stop();  // each resumes its connection
  impl_->streams.stop();
  {
    std::lock_guard lock(impl_->mutex);
    impl_->stopping = true;
  }
  impl_->wake.notify_all();
  MHD_stop_daemon(std::exchange(impl_->daemon, nullptr));
  if (listening != MHD_INVALID_SOCKET) ::close(listening);
}

Result<std::unique_ptr<Server>> Server::start(Handler& handler, const ServerOptions& o) {
  Address address;
  if (!parse_address(o, address))
    return Status(Code::Invalid, "\"" + o.address + "\" is not an IP address to listen on");
  auto impl = std::make_unique<Impl>(handler, o);
  errno = 0;
  impl->daemon = start_daemon(*impl, address);
  if (!impl->daemon) {
    const int error = errno;
    const std::string where = o.address + ":" + std::to_string(o.port);
    if (error == EADDRINUSE) return Status(Code::Conflict, where + ": another program listens there");
    if (error == 0 && !o.certificate.empty())
      return Status(Code::Invalid, "the certificate or its key cannot be used");
    return errno_status(error, "listening on " + where);
  }
  impl->beats = std::jthread([server = impl.get()] { server->beat(); });
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

uint16_t Server::port() const {
  const MHD_DaemonInfo* info =
      impl_->daemon ? MHD_get_daemon_info(impl_->daemon, MHD_DAEMON_INFO_BIND_PORT) : nullptr;
  return info ? info->port : 0;
}

}  // namespace radl::httpd

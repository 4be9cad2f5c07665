#include "common/http/http.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <mutex>
#include <optional>

#include "common/files.h"
#include "common/http/closed_address.h"
#include "common/http/failed_transfer.h"
#include "common/http/proxy.h"
#include "common/http/rate.h"
#include "common/http/retry.h"
#include "common/no_pipe_signal.h"
#include "common/text.h"

namespace radl::http {
namespace {

using Clock = std::chrono::steady_clock;

struct EasyDeleter {
  void operator()(CURL* c) const { curl_easy_cleanup(c); }
};
using Easy = std::unique_ptr<CURL, EasyDeleter>;

struct ListDeleter {
  void operator()(curl_slist* l) const { curl_slist_free_all(l); }
};

// What libcurl's callbacks work on during one request.
struct Exchange {
  const Request* request = nullptr;
  CURL* easy = nullptr;
  Response response;
  Status failure;  // set by a callback that stopped the transfer
  uint64_t received = 0;
  size_t body_sent = 0;
  int upload_fd = -1;
  bool unread = false;  // what was to be sent could not be read
  Clock::time_point last_move = Clock::now();
  curl_off_t moved = 0;

  ~Exchange() {
    if (upload_fd >= 0) ::close(upload_fd);
  }
  bool sinks() const { return request->sink && response.ok(); }
};

// `bytes` are what the sink gets, as far as that is known.
bool too_much_to_sink(Exchange& x, uint64_t bytes) {
  const uint64_t most = x.request->largest_sunk;
  if (most == 0 || bytes <= most) return false;
  x.failure =
      Status(Code::Quota, "the answer has more than the " + std::to_string(most) + " bytes that are taken");
  return true;
}

size_t on_header(char* data, size_t size, size_t n, void* context) {
  auto& x = *static_cast<Exchange*>(context);
  std::string_view line(data, size * n);
  if (line.rfind("HTTP/", 0) == 0) {  // a new answer: after a redirect or 100 Continue
    x.response.headers.clear();
    x.response.body.clear();
    // libcurl takes a line without a status for one with status 200.
    const size_t status = line.find_first_not_of(' ', std::min(line.find(' '), line.size()));
    if (status == line.npos || !std::isdigit(static_cast<unsigned char>(line[status]))) {
      x.failure = Status(Code::Retry, "the answer is no HTTP");
      return 0;
    }
  } else if (trim(line).empty()) {  // the end of the headers
    long status = 0;
    curl_easy_getinfo(x.easy, CURLINFO_RESPONSE_CODE, &status);
    x.response.status = int(status);
    const std::string length(x.response.header("content-length"));
    if (x.sinks() && too_much_to_sink(x, std::strtoull(length.c_str(), nullptr, 10))) return 0;
    if (x.request->on_headers && x.response.ok()) {
      x.failure = x.request->on_headers(x.response);
      if (!x.failure.ok()) return 0;
    }
  } else if (size_t colon = line.find(':'); colon != std::string_view::npos) {
    x.response.headers.emplace_back(to_lower(line.substr(0, colon)),
                                    std::string(trim(line.substr(colon + 1))));
  }
  return size * n;
}

size_t on_body(char* data, size_t size, size_t n, void* context) {
  auto& x = *static_cast<Exchange*>(context);
  std::string_view piece(data, size * n);
  x.received += piece.size();
  if (x.sinks()) {
    if (too_much_to_sink(x, x.received)) return 0;
    x.failure = x.request->sink(piece);
    return x.failure.ok() ? piece.size() : 0;
  }
  if (x.response.body.size() + piece.size() > x.request->largest_answer) {
    x.failure = Status(Code::Quota,
                       "the answer is larger than " + std::to_string(x.request->largest_answer) + " bytes");
    return 0;
  }
  x.response.body.append(piece);
  return piece.size();
}

size_t on_read(char* to, size_t size, size_t n, void* context) {
  auto& x = *static_cast<Exchange*>(context);
  const uint64_t left = x.request->upload_length - x.body_sent;
  const size_t want = size_t(std::min<uint64_t>(size * n, left));
  if (want == 0) return 0;
  ssize_t got = ::pread(x.upload_fd, to, want, off_t(x.request->upload_offset + x.body_sent));
  if (got <= 0) {
    x.unread = true;
    x.failure =
        Status(Code::Conflict, x.request->upload_file + ": changed or cannot be read while it is sent");
    return CURL_READFUNC_ABORT;
  }
  x.body_sent += size_t(got);
  return size_t(got);
}

size_t on_read_memory(char* to, size_t size, size_t n, void* context) {
  auto& x = *static_cast<Exchange*>(context);
  const size_t piece = std::min(size * n, x.request->body.size() - x.body_sent);
  std::memcpy(to, x.request->body.data() + x.body_sent, piece);
  x.body_sent += piece;
  return piece;
}

// libcurl repeats a request by itself when a connection that was kept open dies under it; what it has begun
// to send is only sent again if it can go back to the beginning.
int refuse_seek(void*, curl_off_t, int) { return CURL_SEEKFUNC_FAIL; }

int on_seek(void* context, curl_off_t offset, int origin) {
  auto& x = *static_cast<Exchange*>(context);
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  x.body_sent = size_t(offset);
  return CURL_SEEKFUNC_OK;
}

int on_progress(void* context, curl_off_t total, curl_off_t done, curl_off_t up_total, curl_off_t up_done) {
  auto& x = *static_cast<Exchange*>(context);
  const Request& r = *x.request;
  if (Status s = r.stop.check(); !s.ok()) {
    x.failure = std::move(s);
    return 1;
  }
  if (done + up_done != x.moved) {
    x.moved = done + up_done;
    x.last_move = Clock::now();
    if (r.progress)
      up_total > 0 ? r.progress(uint64_t(up_done), uint64_t(up_total))
                   : r.progress(uint64_t(done), uint64_t(total));
  } else if (r.stall_seconds > 0 &&
             std::chrono::duration<double>(Clock::now() - x.last_move).count() > r.stall_seconds) {
    x.failure = Status(Code::Timeout, "nothing arrived for " + std::to_string(int(r.stall_seconds)) + " s");
    return 1;
  }
  return 0;
}

// Checks the address of each connection of a confined client, so that no DNS name can lead to a closed one.
curl_socket_t open_checked(void* context, curlsocktype, curl_sockaddr* address) {
  if (is_closed_address(&address->addr)) {
    static_cast<Exchange*>(context)->failure =
        Status(Code::Auth, "this service makes no requests to that address for its users");
    return CURL_SOCKET_BAD;
  }
  return ::socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

// For large responses: with libcurl's default of 16 KiB, each piece would be a system call.
constexpr long kSinkBuffer = 256L << 10;

}  // namespace

struct Client::Impl {
  std::mutex mutex;
  std::vector<Easy> idle;

  Easy take() {
    // Called at the first request instead of in the client's constructor: libcurl loads thirty other
    // libraries on demand (cmake), which commands without requests do not need.
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    (void)initialised;
    std::lock_guard lock(mutex);
    if (idle.empty()) return Easy(curl_easy_init());
    Easy easy = std::move(idle.back());
    idle.pop_back();
    curl_easy_reset(easy.get());  // keeps connections, DNS and TLS sessions
    return easy;
  }
  void give(Easy easy) {
    std::lock_guard lock(mutex);
    if (idle.size() < 16) idle.push_back(std::move(easy));
  }
};

Client::Client(Environment environment)
    : environment_(std::move(environment)), impl_(std::make_unique<Impl>()) {}
Client::~Client() = default;

namespace {

// 0: no limit. The stop's deadline counts as well.
long attempt_milliseconds(const Request& r) {
  const long own = long(r.deadline_seconds * 1000);
  if (r.stop.deadline() == Stop::TimePoint::max()) return own;
  const long left = std::max(1L, long(r.stop.left().count()));
  return own > 0 ? std::min(own, left) : left;
}

// The file of trusted certificates, or "" for libcurl's default, which is the place of the distribution it
// was built on.
std::string trusted_certificates(const Environment& environment) {
  if (std::string path = first_set(environment, {"CURL_CA_BUNDLE", "SSL_CERT_FILE"}); !path.empty())
    return path;
  // The locations on Debian, Fedora and its relatives, SUSE and Alpine; the list is from Go's crypto/x509.
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"}) {
    if (::access(path, R_OK) == 0) return path;
  }
  return "";
}

// libcurl would use the proxies of this process's environment, so each request sets those of the client's
// environment.
void set_proxy(CURL* c, const Request& r, const Environment& environment) {
  curl_easy_setopt(c, CURLOPT_PROXY, proxy_of(r.url, environment).c_str());
  const bool none = r.direct || needs_no_proxy(r.url, no_proxy_of(environment));
  curl_easy_setopt(c, CURLOPT_NOPROXY, none ? "*" : no_proxy_of(environment).c_str());
}

bool goes_through_proxy(const Request& r, const Environment& environment) {
  return !r.direct && !proxy_of(r.url, environment).empty() &&
         !needs_no_proxy(r.url, no_proxy_of(environment));
}

// A proxy connects itself, so such requests are checked by host name and follow no redirect.
Status check_confined(const Request& r, const Environment& environment) {
  if (!is_confined(environment) || !goes_through_proxy(r, environment)) return {};
  Status open = check_open_host(r.url);
  return open.code() == Code::Auth ? open : Status();  // names that only the proxy knows are its own
}

void set_confined(CURL* c, const Request& r, const Environment& environment, Exchange& x) {
  if (!is_confined(environment)) return;
  if (goes_through_proxy(r, environment)) {
    curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 0L);
  } else {
    curl_easy_setopt(c, CURLOPT_OPENSOCKETFUNCTION, open_checked);
    curl_easy_setopt(c, CURLOPT_OPENSOCKETDATA, &x);
  }
}

void set_common(CURL* c, const Request& r, const Environment& environment, Exchange& x, char* error) {
  curl_easy_setopt(c, CURLOPT_URL, r.url.c_str());
  curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(c, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, r.url.rfind("https:", 0) == 0 ? "https" : "http,https");
  // Credentials are for this host only: libcurl would pass a session token on to another host.
  curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, r.follow_redirects && !r.signing ? 1L : 0L);
  curl_easy_setopt(c, CURLOPT_MAXREDIRS, 10L);
  curl_easy_setopt(c, CURLOPT_USERAGENT, r.user_agent.c_str());
  curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, long(r.connect_seconds * 1000));
  curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, attempt_milliseconds(r));
  curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(c, CURLOPT_HEADERDATA, &x);
  curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(c, CURLOPT_WRITEDATA, &x);
  if (r.sink) curl_easy_setopt(c, CURLOPT_BUFFERSIZE, kSinkBuffer);
  curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(c, CURLOPT_XFERINFODATA, &x);
  // A signed request is sent unchanged: "a/../b" is an ordinary S3 key.
  if (r.signing) curl_easy_setopt(c, CURLOPT_PATH_AS_IS, 1L);
  set_proxy(c, r, environment);
  set_confined(c, r, environment, x);
  const std::string trusted = r.ca_file.empty() ? trusted_certificates(environment) : r.ca_file;
  if (!trusted.empty()) curl_easy_setopt(c, CURLOPT_CAINFO, trusted.c_str());
}

Status set_body(CURL* c, const Request& r, Exchange& x) {
  if (r.method == "HEAD") {
    curl_easy_setopt(c, CURLOPT_NOBODY, 1L);
    return {};
  }
  if (!r.upload_file.empty()) {
    x.upload_fd = ::open(r.upload_file.c_str(), O_RDONLY | O_CLOEXEC);
    if (x.upload_fd < 0) return errno_status(errno, r.upload_file);
    curl_easy_setopt(c, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read);
    curl_easy_setopt(c, CURLOPT_READDATA, &x);
    curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, on_seek);
    curl_easy_setopt(c, CURLOPT_SEEKDATA, &x);
    curl_easy_setopt(c, CURLOPT_INFILESIZE_LARGE, curl_off_t(r.upload_length));
  } else if (!r.body.empty() || r.method == "POST" || r.method == "PUT" || r.method == "PATCH") {
    curl_easy_setopt(c, CURLOPT_POST, 1L);
    curl_easy_setopt(c, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(r.body.size()));
    if (may_be_repeated(r)) {
      curl_easy_setopt(c, CURLOPT_POSTFIELDS, r.body.data());
    } else {
      curl_easy_setopt(c, CURLOPT_READFUNCTION, on_read_memory);
      curl_easy_setopt(c, CURLOPT_READDATA, &x);
      curl_easy_setopt(c, CURLOPT_SEEKFUNCTION, refuse_seek);
    }
  }
  curl_easy_setopt(c, CURLOPT_CUSTOMREQUEST, r.method.c_str());
  return {};
}

}  // namespace

namespace {

Result<std::unique_ptr<curl_slist, ListDeleter>> header_list(const Request& r) {
  Headers now = r.headers;
  if (r.signing) {
    auto more = r.signing();
    if (!more.ok()) return more.status();
    for (auto& header : *more) now.push_back(std::move(header));
  }
  std::unique_ptr<curl_slist, ListDeleter> list;
  auto append = [&](const std::string& line) {
    curl_slist* longer = curl_slist_append(list.get(), line.c_str());
    if (longer && !list) list.reset(longer);
    return longer != nullptr;
  };
  for (const auto& [name, value] : now) {
    if ((name + value).find_first_of("\r\n") != std::string::npos)
      return invalid("header " + name + " holds a line break");
    // libcurl drops a header that ends in ':' and sends an empty one for ';'.
    if (!append(value.empty() ? name + ";" : name + ": " + value))
      return Status(Code::Quota, "libcurl has no memory");
  }
  if (!append("Expect:")) return Status(Code::Quota, "libcurl has no memory");
  return list;
}

// A callback ended it: its own reason, but for one that may have acted.
Status stopped_by(const Exchange& x, bool sent) {
  const Request& r = *x.request;
  const bool lost = sent && !x.unread && !may_be_repeated(r);
  return Status(lost ? Code::Lost : x.failure.code(), x.failure.message())
      .at(r.method + " " + printable_url(r.url));
}

bool turned_away(const Request& r, const Response& answer) {
  return r.throttled ? r.throttled(answer) : answer.status == 429;
}

}  // namespace

Result<Response> Client::send(const Request& r) {
  if (r.rate) {
    if (Status turn = r.rate->take(r.stop); !turn.ok())
      return std::move(turn).at(r.method + " " + printable_url(r.url));
  }
  if (Status s = r.stop.check(); !s.ok()) return std::move(s).at(r.method + " " + printable_url(r.url));
  if (Status open = check_confined(r, environment_); !open.ok()) return open;
  auto headers = header_list(r);
  if (!headers.ok()) return headers.status();
  Easy easy = impl_->take();
  if (!easy) return Status(Code::Quota, "libcurl has no memory");
  Exchange x;
  x.request = &r;
  x.easy = easy.get();
  char error[CURL_ERROR_SIZE] = "";
  set_common(easy.get(), r, environment_, x, error);
  if (Status body = set_body(easy.get(), r, x); !body.ok()) return body;
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, headers->get());

  const CURLcode code = [&] {
    NoPipeSignal guard;  // OpenSSL writes to a connection that the server has closed
    return curl_easy_perform(easy.get());
  }();
  long status = 0, request_bytes = 0;
  curl_easy_getinfo(easy.get(), CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(easy.get(), CURLINFO_REQUEST_SIZE, &request_bytes);
  x.response.status = int(status);
  impl_->give(std::move(easy));
  const bool sent = request_bytes > 0;
  if (!x.failure.ok()) return stopped_by(x, sent);
  if (code != CURLE_OK) return failed_transfer(code, r, proxy_of(r.url, environment_), sent, error);
  if (r.rate) turned_away(r, x.response) ? r.rate->throttled() : r.rate->served();
  return std::move(x.response);
}

namespace {

// True if the request may be repeated after this result. A request that may have changed something is
// repeated only if it is idempotent, or if the server cannot have acted on it: it was not delivered (Retry;
// an unknown outcome is Lost), or it was throttled.
bool may_repeat(const Request& r, const Result<Response>& answer) {
  if (!answer.ok()) return answer.status().code() == Code::Retry || answer.status().code() == Code::Timeout;
  if (turned_away(r, *answer)) return true;
  return passing_status(answer->status) && may_be_repeated(r);
}

}  // namespace

Result<Response> Client::send(const Request& request, const Retries& retries) {
  Request r = request;
  bool sunk = false;
  if (request.sink) {
    r.sink = [&](std::string_view piece) {
      sunk = true;
      return request.sink(piece);
    };
  }
  Backoff backoff(retries, request.stop);
  for (;;) {
    auto answer = send(r);
    const bool final = answer.ok() && retries.final && retries.final(*answer);
    if (sunk || final || !may_repeat(r, answer) || !backoff.again()) return answer;
    std::optional<double> after;
    if (answer.ok()) after = parse_retry_after(answer->header("retry-after"), std::time(nullptr));
    if (after && *after > retries.longest_retry_after) return answer;  // it will not be back in time
    if (Status waited = backoff.wait(after); !waited.ok())
      return waited.code() == Code::Timeout ? answer : Result<Response>(waited);
  }
}

}  // namespace radl::http

#include "tests/fuzz/scripted_http.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "common/http/http.h"
#include "common/http/rate.h"

namespace radl::fuzz {
namespace {

std::string_view answers;
bool said_by_the_server = false;

http::Response next() {
  const size_t end = std::min(answers.find('\x1E'), answers.size());
  std::string_view text = answers.substr(0, end);
  answers.remove_prefix(std::min(end + 1, answers.size()));
  constexpr int kStatus[] = {200, 200, 200, 201, 202, 204, 206, 304, 308, 400,
                             401, 403, 404, 409, 412, 416, 429, 500, 503};
  http::Response response;
  response.status = kStatus[static_cast<unsigned char>(text.empty() ? 0 : text[0]) % std::size(kStatus)];
  text.remove_prefix(std::min<size_t>(1, text.size()));
  while (!text.empty() && response.headers.size() < 50) {
    const size_t line = std::min(text.find('\n'), text.size());
    std::string_view header = text.substr(0, line);
    text.remove_prefix(std::min(line + 1, text.size()));
    const size_t colon = header.find(": ");
    if (colon == header.npos) break;
    response.headers.emplace_back(header.substr(0, colon), header.substr(colon + 2));
  }
  response.body = text;
  return response;
}

}  // namespace

void script(const uint8_t* data, size_t size) {
  answers = {reinterpret_cast<const char*>(data), size};
  // The comparison below teaches libFuzzer the word; a message may quote a server that knows it by itself.
  said_by_the_server = answers.find(kSecret) != answers.npos;
}

Stop no_waiting() {
  static StopSource source = [] {
    StopSource made;
    made.request();
    return made;
  }();
  return source.token();
}

void look_at(const Status& status) {
  const std::string text = status.text();
  if (text.find(kSecret) == text.npos || said_by_the_server) return;
  std::fprintf(stderr, "a message has the secret: %s\n", text.c_str());
  std::abort();
}

}  // namespace radl::fuzz

namespace radl::http {

struct Client::Impl {};
Client::Client(Environment environment) : environment_(std::move(environment)) {}
Client::~Client() = default;

Result<Response> Client::send(const Request& request) {
  if (request.signing) {
    auto headers = request.signing();
    if (!headers.ok()) return std::move(headers).status();
  }
  if (radl::fuzz::answers.empty()) return Status(Code::Retry, "nothing is reached");
  Response response = radl::fuzz::next();
  if (request.method == "HEAD") response.body.clear();
  if (!response.ok()) return response;
  if (request.on_headers)
    if (Status said = request.on_headers(response); !said.ok()) return said;
  if (!request.sink) return response;
  Status taken = request.sink(response.body);
  response.body.clear();
  if (!taken.ok()) return taken;
  return response;
}

Result<Response> Client::send(const Request& request, const Retries& retries) {
  for (int attempt = 1;; ++attempt) {
    auto response = send(request);
    const bool again = response.ok() && (response->status == 429 || response->status >= 500);
    if (!again || attempt >= std::min(retries.attempts, 3) || (retries.final && retries.final(*response)))
      return response;
  }
}

}  // namespace radl::http

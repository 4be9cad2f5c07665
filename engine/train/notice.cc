#include "engine/train/notice.h"

#include "common/text.h"

namespace radl::engine {
namespace {

constexpr double kConnectSeconds = 2, kAnswerSeconds = 5;
constexpr size_t kLargestAnswer = 1 << 20;
constexpr int kRefused = 401, kNothing = 404;

http::Request request_of(const std::string& url, const std::map<std::string, std::string>& headers,
                         const Stop& stop) {
  http::Request request;
  request.url = url;
  request.headers.assign(headers.begin(), headers.end());
  request.direct = true;  // of this machine's own network
  request.follow_redirects = false;
  request.connect_seconds = kConnectSeconds;
  request.deadline_seconds = kAnswerSeconds;
  request.largest_answer = kLargestAnswer;
  request.stop = stop;
  return request;
}

std::string status_text(const std::string& url, int status) {
  return http::printable_url(url) + ": HTTP status " + std::to_string(status);
}

}  // namespace

Status NoticeService::open(const Stop& stop) {
  http::Request request = request_of(spec_.session_url, spec_.session_headers, stop);
  request.method = "PUT";
  auto answer = http_.send(request);
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return {Code::Auth, status_text(spec_.session_url, answer->status)};
  session_ = std::string(trim(answer->body));
  return {};
}

Result<std::optional<EvictionNotice>> NoticeService::ask(const Stop& stop) {
  const bool has_session = !spec_.session_url.empty();
  for (bool renewed = !has_session || session_.empty();; renewed = true) {
    if (has_session && session_.empty()) {
      if (Status opened = open(stop); !opened.ok()) return opened;
    }
    http::Request request = request_of(spec_.url, spec_.headers, stop);
    if (has_session) request.headers.emplace_back(spec_.session_header, session_);
    auto answer = http_.send(request);
    if (!answer.ok()) return answer.status();
    if (answer->status == kRefused && !renewed) {
      session_.clear();
      continue;
    }
    if (answer->status == kNothing) return std::optional<EvictionNotice>();
    if (!answer->ok()) return Status(Code::Auth, status_text(spec_.url, answer->status));
    return notice_in(spec_, answer->body);
  }
}

}  // namespace radl::engine

#include "engine/train/notice.h"

#include <algorithm>

#include "common/json_values.h"
#include "common/text.h"

namespace radl::engine {
namespace {

using Value = nlohmann::json;

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

bool is_text(const Value& value, const std::string& wanted) {
  return value.is_string() && equal_ignoring_case(value.get_ref<const std::string&>(), wanted);
}

// A text that is the one wanted, or a list that holds it.
bool holds(const Value& value, const std::string& wanted) {
  return is_text(value, wanted) ||
         (value.is_array() &&
          std::any_of(value.begin(), value.end(), [&](const Value& one) { return is_text(one, wanted); }));
}

bool fits(const NoticeSpec& spec, const Value& one) {
  return one.is_object() && std::all_of(spec.where.begin(), spec.where.end(), [&](const auto& wanted) {
           return holds(json::member(one, wanted.first), wanted.second);
         });
}

std::string status_text(const std::string& url, int status) {
  return http::printable_url(url) + ": HTTP status " + std::to_string(status);
}

}  // namespace

Result<std::optional<Notice>> notice_in(const NoticeSpec& spec, const std::string& answer) {
  if (!spec.says.empty()) {
    if (!equal_ignoring_case(trim(answer), spec.says)) return std::optional<Notice>();
    return std::optional<Notice>(Notice{spec.action, ""});
  }
  const Value said = json::parse_json(answer);
  const std::string from = http::printable_url(spec.url);
  if (!said.is_object()) return Status(Code::Corrupt, from + ": the answer is no JSON object");
  auto noticed = [&](const Value& one) -> Result<std::optional<Notice>> {
    Notice notice{json::text_of(one, spec.action), json::text_of(one, spec.time)};
    if (notice.action.empty())
      return Status(Code::Corrupt, from + ": a notice without \"" + spec.action + "\"");
    return std::optional<Notice>(std::move(notice));
  };
  if (spec.list.empty()) return fits(spec, said) ? noticed(said) : std::optional<Notice>();
  if (!json::member(said, spec.list).is_array())
    return Status(Code::Corrupt, from + ": the answer has no list \"" + spec.list + "\"");
  for (const Value& one : json::list_of(said, spec.list))
    if (fits(spec, one)) return noticed(one);
  return std::optional<Notice>();
}

Status NoticeService::open(const Stop& stop) {
  http::Request request = request_of(spec_.session_url, spec_.session_headers, stop);
  request.method = "PUT";
  auto answer = http_.send(request);
  if (!answer.ok()) return answer.status();
  if (!answer->ok()) return {Code::Auth, status_text(spec_.session_url, answer->status)};
  session_ = std::string(trim(answer->body));
  return {};
}

Result<std::optional<Notice>> NoticeService::ask(const Stop& stop) {
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
    if (answer->status == kNothing) return std::optional<Notice>();
    if (!answer->ok()) return Status(Code::Auth, status_text(spec_.url, answer->status));
    return notice_in(spec_, answer->body);
  }
}

}  // namespace radl::engine

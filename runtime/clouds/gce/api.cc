#include "runtime/clouds/gce/api.h"

#include <charconv>

namespace radl::gce {

Posted post(Asking& call, const std::string& path, Json body, const std::string& method, Parameters query) {
  query.emplace_back("requestId", google::request_id());
  google::Answer answer = call.service.call(
      {.method = method, .path = call.root() + path, .query = std::move(query), .body = std::move(body)},
      waits(call.context));
  Posted posted;
  if (answer.ok()) {
    posted.asked = Asked::accepted();
    posted.operation = partial_of(text_of(answer.json(), "selfLink"));
    return posted;
  }
  const google::Failure& failure = answer.failure();
  switch (failure.kind) {
    case google::Failure::Kind::Unknown:
      posted.asked = Asked::unknown(failure.status);
      break;
    case google::Failure::Kind::Throttled:
      posted.asked = Asked::refused({Code::Retry, failure.status.message()}, failure.retry_after);
      break;
    case google::Failure::Kind::NotSent:
    case google::Failure::Kind::Refused:
      posted.asked = Asked::refused(failure.status);
      break;
  }
  return posted;
}

Posted remove(Asking& call, const std::string& path) { return post(call, path, nullptr, "DELETE"); }

Result<Json> read(Asking& call, const std::string& path, const Parameters& query) {
  google::Answer answer =
      call.service.call({.method = "GET",
                         .path = path.empty() ? "projects/" + call.project : call.root() + path,
                         .query = query,
                         .body = nullptr},
                        waits(call.context));
  if (!answer.ok()) return answer.failure().status;
  return answer.json();
}

std::string project_path_of(const std::string& url) {
  const size_t at = url.find("projects/");
  return at == url.npos ? "" : url.substr(at);
}

std::string partial_of(const std::string& url) {
  const std::string path = project_path_of(url);
  const size_t behind = path.find('/', path.find('/') + 1);
  return path.empty() || behind == path.npos ? "" : path.substr(behind + 1);
}

std::string last_part(const std::string& url) {
  const size_t at = url.rfind('/');
  return at == url.npos ? url : url.substr(at + 1);
}

double count_of(const Json& object, const std::string& name) {
  const std::string text = text_of(object, name);
  if (text.empty()) return number_of(object, name);
  double number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace radl::gce

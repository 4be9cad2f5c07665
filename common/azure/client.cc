#include "common/azure/client.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "common/http/json_call.h"
#include "common/http/url.h"
#include "common/json_values.h"

namespace radl::azure {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::member;
using json::parse_json;
using json::text_of;

constexpr size_t kMostPages = 10'000;

bool is_throttled(const http::Response& answer) {
  if (answer.status == 429) {
    // A retry of a second makes no room where another operation runs: who asked waits, and knows for what.
    const Said said = error_in(parse_json(answer.body));
    return said.code != "AnotherOperationInProgress" && said.code.find("AllocationFailed") == said.code.npos;
  }
  return false;
}

Failure refusal(const http::Response& response, const std::string& what) {
  const Said said = error_in(parse_json(response.body));
  Failure failure;
  failure.http_status = response.status;
  failure.reason = said.code;
  failure.message = said.message;
  failure.kind = http::kind_of_status(response.status, is_throttled(response));
  Code code = code_of(said, response.status);
  // Azure itself reports the absence; any other page is from a gateway or a wrong address.
  if (code == Code::NotFound && said.code.empty()) code = Code::Invalid;
  const Status told = status_of(said, response.status);
  failure.status = Status(code, fmt::format("{}: HTTP status {}{}{}", what, response.status,
                                            told.message().empty() ? "" : ": ", told.message()))
                       .with_hint(told.hint());
  return failure;
}

double number_of_header(const http::Response& response, std::string_view name) {
  const std::string_view text = response.header(name);
  double number = -1;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

double least_remaining(const http::Response& response) {
  double least = -1;
  for (const char* name :
       {"x-ms-ratelimit-remaining-subscription-reads", "x-ms-ratelimit-remaining-subscription-writes",
        "x-ms-ratelimit-remaining-subscription-deletes", "x-ms-ratelimit-remaining-tenant-reads"}) {
    const double here = number_of_header(response, name);
    if (here >= 0 && (least < 0 || here < least)) least = here;
  }
  return least;
}

}  // namespace

Answer Manager::send(const Call& call, const std::string& url, const http::Waits& waits,
                     http::Response& response) {
  const bool changes = call.method != "GET";
  const std::string scope = manager_scope(session_.settings().site);
  http::JsonCall sent;
  sent.what =
      fmt::format("Azure {} {}", call.method, call.path.empty() ? http::printable_url(url) : call.path);
  sent.request = http::json_request(call.method, url, call.body);
  http::Request& request = sent.request;
  request.headers.insert(request.headers.end(), call.headers.begin(), call.headers.end());
  request.rate = session_.rate();
  request.throttled = is_throttled;
  sent.retries = http::json_retries();
  sent.retries.final = [](const http::Response& answer) {
    return answer.status == 429 && !is_throttled(answer);
  };
  std::shared_ptr<const Token> token;
  sent.token = [&]() -> Result<std::pair<std::string, std::string>> {
    auto made = session_.token(scope, waits.stop);
    if (!made.ok()) return made.status();
    token = *made;
    return std::pair<std::string, std::string>("Authorization", "Bearer " + token->value);
  };
  sent.refused = [&] { session_.refused(scope, token); };
  sent.refusal = [&](const http::Response& answer) { return refusal(answer, sent.what); };
  sent.may_have_arrived = changes;
  sent.cut = changes ? Code::Lost : Code::Retry;
  Answer answer = http::call_json(session_.http(), sent, waits, &response);
  if (const double here = least_remaining(response); here >= 0) remaining_ = here;
  return answer;
}

Answer Manager::call(const Call& call, const http::Waits& waits, Accepted* accepted) {
  Parameters query = call.query;
  query.insert(query.begin(), {"api-version", call.version});
  http::Response response;
  Answer answer =
      send(call, session_.settings().site.manager + "/" + call.path + "?" + http::query_string(query), waits,
           response);
  if (!accepted || !answer.ok()) return answer;
  accepted->document = answer.json();
  accepted->operation = response.header("azure-asyncoperation");
  if (accepted->operation.empty() && response.status == 202)
    accepted->operation = response.header("location");
  accepted->retry_after = http::retry_after_of(response);
  return answer;
}

Status Manager::each(const Call& first, const http::Waits& waits,
                     const std::function<void(const Json&)>& take) {
  Parameters query = first.query;
  query.insert(query.begin(), {"api-version", first.version});
  const std::string& manager = session_.settings().site.manager;
  std::string url = manager + "/" + first.path + "?" + http::query_string(query);
  const std::string where = "Azure GET " + first.path;
  std::set<std::string> pages;
  for (size_t page = 0; page < kMostPages; ++page) {
    if (!pages.insert(url).second) return Status(Code::Corrupt, where + ": the pages of the response repeat");
    http::Response response;
    Answer answer = send(first, url, waits, response);
    if (!answer.ok()) return answer.failure().status;
    for (const Json& item : list_of(answer.json(), "value")) take(item);
    url = text_of(answer.json(), "nextLink");
    if (url.empty()) return {};
    // A token must be sent only to its own server.
    if (!http::same_origin(url, manager))
      return Status(Code::Corrupt,
                    where + ": the next page has a different host, " + http::printable_url(url));
  }
  return Status(Code::Corrupt, where + ": too many pages");
}

Result<Progress> Manager::progress(const std::string& operation, const http::Waits& waits) {
  if (!http::same_origin(operation, session_.settings().site.manager))
    return Status(Code::Corrupt,
                  "Azure: the URL of an operation has a different host, " + http::printable_url(operation));
  http::Response response;
  Answer answer = send({}, operation, waits, response);
  if (!answer.ok()) {
    // By its Location alone an operation that failed answers with its error.
    if (answer.failure().kind != Failure::Kind::Refused || answer.failure().http_status == 404 ||
        answer.failure().http_status == 401 || answer.failure().http_status == 403)
      return answer.failure().status;
    return Progress{true, answer.failure().status, 0};
  }
  Progress progress;
  progress.retry_after = http::retry_after_of(response);
  const std::string status = text_of(answer.json(), "status");
  if (status == "Failed" || status == "Canceled") {
    progress.done = true;
    Said said = error_in(answer.json());
    if (said.code.empty()) said.code = status;
    progress.failed = status_of(said, 500);
    // A failed operation is final, whatever its message: only known transient failures are worth a retry.
    if (progress.failed.code() == Code::Retry && cure_of(said, 500).empty() && said.code == status)
      progress.failed = Status(Code::Corrupt, progress.failed.message());
    return progress;
  }
  progress.done = status.empty() ? response.status != 202 : status == "Succeeded";
  return progress;
}

}  // namespace radl::azure

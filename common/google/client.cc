#include "common/google/client.h"

#include <fmt/format.h>

#include <set>

#include "common/digest.h"
#include "common/google/errors.h"
#include "common/http/json_call.h"
#include "common/http/url.h"
#include "common/json_values.h"

namespace radl::google {
namespace {

using Json = nlohmann::json;
using json::list_of;
using json::member;
using json::parse_json;
using json::text_of;

constexpr const char* kPage = "500";  // the most that a list gives at once
constexpr size_t kMostPages = 10'000;

// A rate is refused with 403 as well, as what is not allowed is; the reason tells them apart.
bool is_throttled(const http::Response& answer) {
  if (answer.status == 429) return true;
  return answer.status == 403 && code_of(error_in(parse_json(answer.body)), answer.status) == Code::Retry;
}

// A zone without capacity also responds with 503: nothing is created, and a retry does not help.
bool has_no_room(const http::Response& answer) {
  return answer.status >= 500 && code_of(error_in(parse_json(answer.body)), answer.status) == Code::Quota;
}

Failure refusal(const http::Response& response, const std::string& what) {
  const Said said = error_in(parse_json(response.body));
  Failure failure;
  failure.http_status = response.status;
  failure.reason = said.reason;
  failure.kind = http::kind_of_status(response.status, is_throttled(response));
  if (has_no_room(response)) failure.kind = Failure::Kind::Refused;
  Code code = code_of(said, response.status);
  // Google itself reports the absence; any other page is from a gateway or a wrong address.
  if (code == Code::NotFound && said.message.empty()) code = Code::Invalid;
  failure.status = Status(code, fmt::format("{}: HTTP status {}{}", what, response.status,
                                            said.message.empty() ? "" : ": " + said.message))
                       .with_hint(cure_of(said, code));
  return failure;
}

// Whether "zones/europe-west1-b", "regions/europe-west1" or a URL that ends so is of the region.
bool is_of(const std::string& scope, const std::string& region) {
  const std::string name = scope.substr(scope.rfind('/') + 1);
  return region.empty() || name == region || name.starts_with(region + "-");
}

// {"warning": {"code": "UNREACHABLE", ..}}: a page without what lies there would mean that it is gone.
Status unreachable_in(const Json& scope, const std::string& where) {
  const std::string code = text_of(member(scope, "warning"), "code");
  if (code != "UNREACHABLE" && code != "PARTIAL_SUCCESS") return {};
  return Status(Code::Retry, fmt::format("{}: {}", where, text_of(member(scope, "warning"), "message")));
}

// {"unreachables": ["zones/europe-west1-b"]}
Status unreachables_in(const Json& page, const std::string& region, const std::string& where) {
  for (const Json& one : list_of(page, "unreachables"))
    if (one.is_string() && is_of(one.get<std::string>(), region))
      return Status(Code::Retry, fmt::format("{}: {} does not answer", where, one.get<std::string>()));
  return {};
}

}  // namespace

std::string request_id() {
  std::string hex = to_hex(random_bytes(16));
  hex[12] = '4';
  hex[16] = "89ab"[hex[16] % 4];
  for (size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

Answer Service::call(const Call& call, const http::Waits& waits) {
  const bool changes = call.method != "GET";
  http::JsonCall sent;
  sent.what = fmt::format("Compute Engine {} {}", call.method, call.path);
  std::string url = url_ + call.path;
  if (!call.query.empty()) url += "?" + http::query_string(call.query);
  sent.request = http::json_request(call.method, url, call.body);
  sent.request.rate = session_.rate();
  sent.request.throttled = is_throttled;
  sent.retries = http::json_retries();
  sent.retries.final = has_no_room;
  std::shared_ptr<const Token> token;
  sent.token = [&]() -> Result<std::pair<std::string, std::string>> {
    auto made = session_.token(waits.stop);
    if (!made.ok()) return made.status();
    token = *made;
    return std::pair<std::string, std::string>("Authorization", "Bearer " + token->value);
  };
  sent.refused = [&] { session_.refused(token); };
  sent.refusal = [&](const http::Response& response) { return refusal(response, sent.what); };
  sent.may_have_arrived = changes;
  sent.cut = changes ? Code::Lost : Code::Retry;
  return http::call_json(session_.http(), sent, waits);
}

Status Service::each(const std::string& path, const Scopes& scopes, Parameters query,
                     const http::Waits& waits, const std::function<void(const Json&)>& take) {
  query.emplace_back("maxResults", kPage);
  const size_t without_page = query.size();
  const std::string where = "Compute Engine GET " + path;
  std::set<std::string> pages;
  for (size_t page = 0; page < kMostPages; ++page) {
    Answer answer = call({.method = "GET", .path = path, .query = query, .body = nullptr}, waits);
    if (!answer.ok()) return answer.failure().status;
    if (Status there = unreachables_in(answer.json(), scopes.region, where); !there.ok()) return there;
    if (scopes.key.empty()) {
      for (const Json& item : list_of(answer.json(), "items")) take(item);
      if (Status there = unreachable_in(answer.json(), where); !there.ok()) return there;
    } else if (const Json& parts = member(answer.json(), "items"); parts.is_object()) {
      for (const auto& [scope, held] : parts.items()) {
        // Zones on the other side of the world may fail as they like.
        if (!is_of(scope, scopes.region)) continue;
        if (Status there = unreachable_in(held, where + ", " + scope); !there.ok()) return there;
        for (const Json& item : list_of(held, scopes.key)) take(item);
      }
    }
    const std::string next = text_of(answer.json(), "nextPageToken");
    if (next.empty()) return {};
    if (!pages.insert(next).second)
      return Status(Code::Corrupt, where + ": the pages of the response repeat");
    query.resize(without_page);
    query.emplace_back("pageToken", next);
  }
  return Status(Code::Corrupt, where + ": too many pages");
}

}  // namespace radl::google

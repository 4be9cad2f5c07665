#include "common/openstack/client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "common/http/json_call.h"
#include "common/http/retry.h"
#include "common/http/url.h"
#include "common/openstack/values.h"
#include "common/text.h"

namespace radl::openstack {

namespace {

using Json = nlohmann::json;

constexpr size_t kPage = 500;
constexpr const char* kTokenHeader = "X-Auth-Token";
constexpr size_t kMostPages = 10'000;

int number_in(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// Some clouds' gateways, and old versions of Nova, use 413 instead of 429. The same status can mean a quota;
// then it has no Retry-After.
bool is_throttled(const http::Response& answer) {
  return answer.status == 429 || (answer.status == 413 && http::retry_after_of(answer) > 0);
}

// A quota is refused with 403 or 413 (Nova), 409 (Neutron), 413 (Cinder); the words tell it from a policy.
bool is_quota(int status, const std::string& message) {
  if (status == 413) return true;
  const std::string lower = to_lower(message);
  return (status == 403 || status == 409) && lower.find("quota") != lower.npos;
}

Code code_of(int status, const std::string& message) {
  if (is_quota(status, message)) return Code::Quota;
  if (tells_of_no_room(message)) return Code::Quota;
  return http::code_of_status(status);
}

Failure refusal(const http::Response& response, const std::string& what, Effect effect) {
  Failure failure;
  failure.http_status = response.status;
  failure.message = error_message(response.body);
  const bool throttled = is_throttled(response);
  failure.kind = http::kind_of_status(response.status, throttled);
  Code code = throttled ? Code::Retry : code_of(response.status, failure.message);
  // A 404 without a message of the service comes from a gateway or a wrong endpoint: it says nothing about
  // the resource.
  const bool own = !failure.message.empty() || response.body.find("Not Found") != std::string::npos;
  if (code == Code::NotFound && !own) code = Code::Invalid;
  if (failure.kind == Failure::Kind::Unknown && effect == Effect::Once) code = Code::Lost;
  failure.status = Status(code, fmt::format("{}: HTTP status {}{}", what, response.status,
                                            failure.message.empty() ? "" : ": " + failure.message));
  if (code == Code::Auth && response.status == 403)
    failure.status = Status(failure.status)
                         .with_hint("Run `radlc check-auth` to see the roles of this login in the project.");
  return failure;
}

// The marker of a "next" link: its address may name a host that only the service itself knows.
std::string marker_in(const std::string& url) {
  const size_t question = url.find('?');
  if (question == url.npos) return "";
  for (auto& [name, value] : http::parse_query(std::string_view(url).substr(question + 1)))
    if (name == "marker") return std::move(value);
  return "";
}

std::string next_marker(const Json& page, const std::string& key, size_t count, size_t asked,
                        const std::string& last) {
  for (const Json& link : list_of(page, key + "_links"))
    if (text_of(link, "rel") == "next") return marker_in(text_of(link, "href"));
  if (const std::string next = text_of(page, "next"); !next.empty()) return marker_in(next);
  return count >= asked ? last : "";
}

// The marker of the next page: a key pair has only its name.
std::string id_of(const Json& item) {
  if (std::string id = text_of(item, "id"); !id.empty()) return id;
  const std::string inner = text_of(member(item, "keypair"), "name");
  return inner.empty() ? text_of(item, "name") : inner;
}

// Where "/v2.1" begins in a URL's path.
size_t version_at(const std::string& url) {
  const size_t host = url.find("://");
  for (size_t at = url.find("/v", host == url.npos ? 0 : host + 3); at != url.npos;
       at = url.find("/v", at + 1))
    if (at + 2 < url.size() && url[at + 2] >= '0' && url[at + 2] <= '9') return at;
  return std::string::npos;
}

// "https://host/v2.1" of "https://host/v2.1/PROJECT": there a version tells of itself.
std::string version_root(const std::string& url) {
  const size_t at = version_at(url);
  return at == url.npos ? url : url.substr(0, url.find('/', at + 1));
}

}  // namespace

bool tells_of_no_room(const std::string& message) {
  const std::string lower = to_lower(message);
  for (const char* words :
       {"no valid host", "not enough hosts", "exhausted all hosts", "no more ip addresses"})
    if (lower.find(words) != lower.npos) return true;
  return false;
}

int compare_versions(const std::string& a, const std::string& b) {
  const auto left = split(a, '.'), right = split(b, '.');
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const int one = i < left.size() ? number_in(left[i]) : 0,
              other = i < right.size() ? number_in(right[i]) : 0;
    if (one != other) return one < other ? -1 : 1;
  }
  return 0;
}

std::string error_message(std::string_view body) {
  const Json document = parse_json(body);
  if (!document.is_object()) return "";
  if (document.contains("message")) return http::one_line(text_of(document, "message"));
  for (const auto& [name, error] : document.items()) {
    if (std::string text = text_of(error, "message"); !text.empty()) return http::one_line(text);
    if (error.is_string() && name == "NeutronError") return http::one_line(error.get<std::string>());
  }
  // Guidelines on errors: {"errors": [{"title", "detail"}]}.
  for (const Json& error : list_of(document, "errors")) {
    const std::string detail = text_of(error, "detail");
    return http::one_line(detail.empty() ? text_of(error, "title") : detail);
  }
  return "";
}

Service::Service(Session& session, std::string type, std::string newest)
    : session_(session), type_(std::move(type)), newest_(std::move(newest)) {}

std::string Service::shown(const Call& call) const {
  return fmt::format("OpenStack {} {} {}", type_, call.method, call.path);
}

Result<Service::Version> Service::version(const Stop& stop) {
  {
    std::lock_guard guard(mutex_);
    if (version_) return *version_;
  }
  auto endpoint = session_.endpoint(type_, stop);
  if (!endpoint.ok()) return endpoint.status();
  Version found{*endpoint, ""};
  const bool versioned = version_at(found.root) != std::string::npos;
  if (type_ == "image" && !versioned) found.root += "/v2";
  if (type_ == "network" && !versioned) found.root += "/v2.0";
  if (!newest_.empty()) {
    auto token = session_.token(stop);
    if (!token.ok()) return token.status();
    const Version plain{version_root(found.root), ""};
    Call call{.path = "/"};
    http::Request request = request_of(call, plain);
    request.headers.emplace_back(kTokenHeader, (*token)->id);
    request.stop = stop;
    auto answer = session_.http().send(request, http::json_retries());
    if (!answer.ok()) return Status(answer.status()).at(shown(call));
    // Without a version everything would be asked in the oldest one: what may pass is not taken for that.
    if (answer->status >= 500 || answer->status == 401 || answer->status == 429)
      return Status(Code::Retry, fmt::format("{}: HTTP status {}", shown(call), answer->status));
    if (answer->ok()) {
      const Json document = parse_json(answer->body);
      if (document.is_null()) return Status(Code::Retry, shown(call) + ": the response is not JSON");
      const Json& version = member(document, "version");
      std::string newest = text_of(version, "version");
      for (const Json& one : list_of(document, "versions"))
        if (compare_versions(newest, text_of(one, "version")) < 0) newest = text_of(one, "version");
      if (!newest.empty()) found.requested = compare_versions(newest, newest_) < 0 ? newest : newest_;
    }
  }
  std::lock_guard guard(mutex_);
  version_ = found;
  return found;
}

Status Service::present(const Stop& stop) { return session_.endpoint(type_, stop).status(); }

Result<bool> Service::knows(const std::string& microversion, const Stop& stop) {
  auto found = version(stop);
  if (!found.ok()) return found.status();
  return !found->requested.empty() && compare_versions(found->requested, microversion) >= 0;
}

http::Request Service::request_of(const Call& call, const Version& version) const {
  std::string url = version.root + call.path;
  if (!call.query.empty()) url += "?" + http::query_string(call.query);
  http::Request request = http::json_request(call.method, url, call.body);
  if (!version.requested.empty()) {
    const bool compute = type_ == "compute";
    request.headers.emplace_back("OpenStack-API-Version",
                                 (type_ == "volume" ? "volume" : type_) + " " + version.requested);
    if (compute) request.headers.emplace_back("X-OpenStack-Nova-API-Version", version.requested);
  }
  request.idempotent = call.effect != Effect::Once;
  request.ca_file = session_.settings().ca_file;
  request.user_agent = "radlc (" + type_ + ")";
  request.rate = session_.rate();
  request.throttled = is_throttled;
  return request;
}

Answer Service::call(const Call& call, const http::Waits& waits) {
  auto how = version(waits.stop);
  if (!how.ok()) return http::no_answer(how.status(), false);
  http::JsonCall sent;
  sent.what = shown(call);
  sent.request = request_of(call, *how);
  sent.retries = http::json_retries();
  std::shared_ptr<const Token> token;
  sent.token = [&]() -> Result<std::pair<std::string, std::string>> {
    auto made = session_.token(waits.stop);
    if (!made.ok()) return made.status();
    token = *made;
    return std::pair<std::string, std::string>(kTokenHeader, token->id);
  };
  sent.refused = [&] { session_.refused(token); };
  sent.refusal = [&](const http::Response& response) {
    return refusal(response, fmt::format("{} ({})", sent.what, http::printable_url(how->root)), call.effect);
  };
  sent.may_have_arrived = call.effect == Effect::Repeatable;
  sent.again = call.effect != Effect::Once;
  sent.cut = call.effect == Effect::Once ? Code::Lost : Code::Corrupt;
  return http::call_json(session_.http(), sent, waits);
}

Status Service::each(const std::string& path, const std::string& key, Parameters query,
                     const http::Waits& waits, const std::function<void(const Json&)>& take) {
  query.emplace_back("limit", std::to_string(kPage));
  const size_t without_marker = query.size();
  std::set<std::string> markers;
  for (size_t page = 0; page < kMostPages; ++page) {
    Answer answer = call({.path = path, .query = query}, waits);
    if (!answer.ok()) return answer.failure().status;
    const Json& items = list_of(answer.json(), key);
    if (!member(answer.json(), key).is_array())
      return Status(Code::Corrupt,
                    fmt::format("OpenStack {} GET {}: the response contains no list '{}'", type_, path, key));
    for (const Json& item : items) take(item);
    const std::string marker =
        next_marker(answer.json(), key, items.size(), kPage, items.empty() ? "" : id_of(items.back()));
    if (marker.empty() || items.empty()) return {};
    if (!markers.insert(marker).second)
      return Status(Code::Corrupt,
                    fmt::format("OpenStack {} GET {}: the pages of the response repeat", type_, path));
    query.resize(without_marker);
    query.emplace_back("marker", marker);
  }
  return Status(Code::Corrupt, fmt::format("OpenStack {} GET {}: too many pages", type_, path));
}

}  // namespace radl::openstack

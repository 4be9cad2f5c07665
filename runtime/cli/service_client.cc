#include "runtime/cli/service_client.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/files.h"
#include "common/http/loopback.h"
#include "common/json_values.h"
#include "common/text.h"
#include "runtime/cli/shown.h"

namespace radl::cli {
namespace {

constexpr size_t kLargestFile = size_t{1} << 20;
constexpr double kLongestPlan = 900;  // seconds; clouds may be slow to answer

Result<std::string> servers_file(const Session& session) {
  const std::string config = session.host.variable("XDG_CONFIG_HOME"), home = session.host.variable("HOME");
  if (!config.empty()) return config + "/radlc/servers.json";
  if (!home.empty()) return home + "/.config/radlc/servers.json";
  return Status(Code::NotFound, "there is no home folder").with_hint("set HOME or XDG_CONFIG_HOME");
}

// {"URL": "TOKEN"}; an object without members if the file does not exist.
Result<Json> read_servers(const std::string& path) {
  auto text = read_file(path, kLargestFile);
  if (text.status().code() == Code::NotFound) return Json::object();
  if (!text.ok()) return text.status();
  Json servers = Json::parse(*text, nullptr, false);
  if (!servers.is_object())
    return Status(Code::Corrupt, path + ": not a list of servers")
        .with_hint("remove the file, and run `radlc login` again");
  return servers;
}

// The service's own code, message and hint; otherwise an error for the HTTP status.
Status error_of(const http::Response& response, const std::string& what) {
  const Json body = Json::parse(response.body, nullptr, false);
  const Json error = body.is_object() ? body.value("error", Json()) : Json();
  const std::string message = json::text_of(error, "message");
  if (message.empty()) return http::status_of(response, what);
  std::string text = message;
  if (const auto findings = body.find("findings"); findings != body.end() && findings->is_array())
    for (const Json& one : *findings)
      text += "\n  " + json::text_of(one, "severity") + "[" + json::text_of(one, "code") +
              "]: " + json::text_of(one, "message");
  Status status(response.status == 422 ? Code::Invalid : http::code_of_status(response.status), text);
  const std::string hint = response.status == 401 ? "run `radlc login` again" : json::text_of(error, "hint");
  return hint.empty() ? status : std::move(status).with_hint(hint);
}

// Takes server-sent events apart.
class EventReader {
 public:
  explicit EventReader(std::function<void(const std::string& type, const std::string& data)> take)
      : take_(std::move(take)) {}
  void add(std::string_view piece) {
    rest_ += piece;
    size_t begin = 0;
    for (size_t end; (end = rest_.find('\n', begin)) != rest_.npos; begin = end + 1)
      line(std::string_view(rest_).substr(begin, end - begin));
    rest_.erase(0, begin);
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) {
      if (!data_.empty()) take_(type_, data_);
      type_.clear();
      data_.clear();
    } else if (text.starts_with("event: ")) {
      type_ = text.substr(7);
    } else if (text.starts_with("data: ")) {
      data_ += (data_.empty() ? "" : "\n") + std::string(text.substr(6));
    }
  }

  const std::function<void(const std::string&, const std::string&)> take_;
  std::string rest_, type_, data_;
};

}  // namespace

Result<std::string> server_url(const std::string& text) {
  auto url = http::parse_http_url(text, "--server");
  if (!url.ok()) return url.status();
  if ((!url->path.empty() && url->path != "/") || !url->query.empty() || !url->user.empty())
    return invalid("--server " + http::printable_url(text) + ": expected http://HOST:PORT or https://HOST");
  if (!http::keeps_secrets(*url))
    return invalid("--server " + http::printable_url(text) + ": the token would be sent without encryption")
        .with_hint("use https");
  return url->scheme + "://" + url->authority();
}

Result<std::string> token_for(const Session& session, const std::string& url) {
  auto path = servers_file(session);
  if (!path.ok()) return path.status();
  auto servers = read_servers(*path);
  if (!servers.ok()) return servers.status();
  const std::string token = json::text_of(*servers, url);
  if (token.empty())
    return Status(Code::NotFound, "there is no token for " + url).with_hint("run `radlc login " + url + "`");
  return token;
}

Status keep_token(const Session& session, const std::string& url, const std::string& token) {
  auto path = servers_file(session);
  if (!path.ok()) return path.status();
  auto servers = read_servers(*path);
  if (!servers.ok()) return servers.status();
  if (token.empty())
    servers->erase(url);
  else
    (*servers)[url] = token;
  if (Status made = make_directories(path->substr(0, path->rfind('/')), 0700); !made.ok()) return made;
  return write_file_atomic(*path, servers->dump(2) + "\n", 0600);
}

std::string encoded(const std::string& path) {
  std::string made;
  for (const std::string_view name : split(path, '/'))
    made += (made.empty() ? "" : "/") + http::percent_encode(name);
  return made;
}

ServiceClient::ServiceClient(const Session& session, std::string url, std::string token, Stop stop)
    : http_(session.host.environment()),
      url_(std::move(url)),
      here_(!url_.starts_with("https:")),
      token_(std::move(token)),
      stop_(std::move(stop)) {}

http::Request ServiceClient::request(const std::string& method, const std::string& path) const {
  http::Request request;
  request.method = method;
  request.url = url_ + "/api/v1" + path;
  request.headers = {{"Authorization", "Bearer " + token_}, {"Accept", "application/json"}};
  request.follow_redirects = false;
  request.direct = here_;  // a proxy would read the token
  request.stop = stop_;
  return request;
}

Result<Json> ServiceClient::call(const std::string& method, const std::string& path, const Json& body,
                                 bool again) {
  http::Request sent = request(method, path);
  sent.idempotent = again;
  if (path == "/plans") sent.stall_seconds = kLongestPlan;
  if (!body.is_null()) {
    sent.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    sent.headers.emplace_back("Content-Type", "application/json");
  }
  auto response = http_.send(sent, http::Retries());
  if (!response.ok()) return response.status();
  if (!response->ok()) return error_of(*response, url_);
  if (response->body.empty()) return Json();
  Json json = Json::parse(response->body, nullptr, false);
  if (json.is_discarded())
    return Status(Code::Corrupt, url_ + ": the answer is not JSON; is this `radlc serve`?");
  return json;
}

Status ServiceClient::upload(const std::string& path, const std::string& file, uint64_t bytes,
                             bool executable) {
  http::Request sent = request(
      "PUT", path + "?offset=0&total=" + std::to_string(bytes) + (executable ? "&executable=yes" : ""));
  sent.upload_file = file;
  sent.upload_length = bytes;
  sent.headers.emplace_back("Content-Type", "application/octet-stream");
  auto response = http_.send(sent, http::Retries());
  if (!response.ok()) return response.status();
  return response->ok() ? Status() : error_of(*response, "uploading " + file);
}

Result<Json> ServiceClient::follow(const std::string& run, unsigned long long from,
                                   const std::function<void(const Event&)>& take) {
  bool ended = false, told = false;
  while (true) {
    EventReader reader([&](const std::string& type, const std::string& data) {
      if (type == "end") {
        ended = true;
        return;
      }
      auto event = event_from_json(Json::parse(data, nullptr, false));
      if (!event.ok() || event->sequence < from) return;
      from = event->sequence + 1;
      take(*event);
    });
    http::Request sent =
        request("GET", "/runs/" + http::percent_encode(run) + "/events?from=" + std::to_string(from));
    sent.headers[1].second = "text/event-stream";
    sent.stall_seconds = 60;  // the service says something every 15 s
    sent.sink = [&](std::string_view piece) -> Status {
      reader.add(piece);
      return {};
    };
    auto response = http_.send(sent);
    if (ended) return call("GET", "/runs/" + http::percent_encode(run));
    if (Status stopped = stop_.check(); !stopped.ok()) return stopped;
    if (response.ok() && !response->ok()) {
      const Status refused = error_of(*response, url_);
      if (refused.code() != Code::Retry && refused.code() != Code::Quota) return refused;
    }
    if (!response.ok() && response.status().code() == Code::Auth) return response.status();
    if (!std::exchange(told, true))
      std::fprintf(stderr, "note: the connection to %s is lost; reconnecting\n", shown(url_).c_str());
    if (!stop_.sleep(std::chrono::seconds(1))) return stop_.check();
  }
}

}  // namespace radl::cli

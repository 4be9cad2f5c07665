#include "runtime/cli/service_session.h"

#include <fmt/format.h>

#include <cstdio>

#include "runtime/cli/service_project.h"
#include "runtime/cli/shown.h"

namespace radl::cli {
namespace {

// A run is named by its ID, or by its number alone: "3" is ID "INFRASTRUCTURE-3".
bool is_run(const std::string& id, const std::string& named) {
  return id == named || id.ends_with("-" + named);
}

}  // namespace

Status OnService::connect() {
  auto url = server_url(session_.server);
  if (!url.ok()) return url.status();
  auto token = token_for(session_, *url);
  if (!token.ok()) return token.status();
  client_.emplace(session_, *url, *token, cancellation_.finishing());
  if (request_.run.log_json.empty()) return {};
  auto log = JsonLinesSink::open(request_.run.log_json);
  if (!log.ok()) return log.status();
  log_ = std::move(*log);
  return {};
}

Status OnService::find(const std::string& name) {
  name_ = name;
  auto me = client_->call("GET", "/me");
  if (!me.ok()) return me.status();
  auto all = client_->call("GET", "/infrastructures");
  if (!all.ok()) return all.status();
  std::vector<std::string> alive, destroyed;
  for (const Json& one : all->value("infrastructures", Json::array())) {
    if (json::text_of(one, "id") == name) {
      id_ = name;
      return {};
    }
    if (json::text_of(one, "name") != name || json::text_of(one, "owner") != json::text_of(*me, "user"))
      continue;
    (json::text_of(one, "state") == "destroyed" ? destroyed : alive).push_back(json::text_of(one, "id"));
  }
  if (alive.size() > 1)
    return Status(Code::Conflict, fmt::format("{} infrastructures are named {}: {}", alive.size(), name,
                                              fmt::join(alive, ", ")))
        .with_hint("pass --name ID");
  if (!alive.empty()) id_ = alive.front();
  if (alive.empty() && !destroyed.empty()) id_ = destroyed.back();
  if (!id_.empty()) return {};
  absent_ = true;
  return Status(Code::NotFound, client_->url() + " has no infrastructure " + name)
      .with_hint("list yours: radlc --server " + client_->url() + " list");
}

Status OnService::find_named() {
  if (Status connected = connect(); !connected.ok()) return connected;
  auto name = name_on_service(request_.project);
  return name.ok() ? find(*name) : name.status();
}

Result<std::unique_ptr<ServiceClient>> OnService::client_of_its_own() const {
  auto token = token_for(session_, client_->url());
  if (!token.ok()) return token.status();
  return std::make_unique<ServiceClient>(session_, client_->url(), *token,
                                         Stop().within(std::chrono::seconds(10)));
}

Result<std::string> OnService::named_run() {
  auto runs = client_->call("GET", "/runs?infrastructure=" + id_);
  if (!runs.ok()) return runs.status();
  std::string newest;
  for (const Json& one : runs->value("runs", Json::array())) {  // the newest first
    const std::string id = json::text_of(one, "id"), state = json::text_of(one, "state");
    const bool going_on = state == "queued" || state == "running";
    if (request_.word.empty() ? going_on : is_run(id, request_.word)) return id;
    if (newest.empty()) newest = id;
  }
  if (request_.word.empty() && !newest.empty()) return newest;
  return Status(Code::NotFound,
                request_.word.empty() ? name_ + " has no runs yet" : "there is no run " + request_.word);
}

void OnService::print(const Event& event) {
  if (log_) log_->emit(event);
  const std::string line = request_.run.json
                               ? to_json(event).dump(-1, ' ', false, Json::error_handler_t::replace)
                               : lines_.line(event);
  if (line.empty()) return;
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

int OnService::follow(const std::string& run, unsigned long long from) {
  auto over = client_->follow(run, from, [this](const Event& event) { print(event); });
  if (log_ && !log_->status().ok()) (void)report(session_, log_->status());
  if (over.status().code() == Code::Cancelled)
    return report(session_, Status(Code::Cancelled, run + " continues on " + client_->url())
                                .with_hint("follow it: " + command_line("wait")));
  if (!over.ok()) return report(session_, over.status());
  const std::string state = json::text_of(*over, "state");
  if (state == "done") return log_ && !log_->status().ok() ? int(kWorldError) : int(kDone);
  if (state == "stopped") return report(session_, Status(Code::Cancelled, run + " was stopped"));
  Status failed(Code::Lost,
                json::text_of(*over, "why").empty() ? run + " failed" : json::text_of(*over, "why"));
  const std::string hint = json::text_of(*over, "hint");
  return report(session_, hint.empty() ? failed : std::move(failed).with_hint(hint));
}

}  // namespace radl::cli

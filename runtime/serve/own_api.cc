#include "runtime/serve/own_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/files.h"
#include "common/program_folder.h"
#include "common/version.h"
#include "runtime/serve/account_api.h"
#include "runtime/serve/own_routes.h"
#include "runtime/serve/route.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr size_t kLargestBody = size_t{16} << 20;
constexpr size_t kLargestDocument = size_t{4} << 20;

}  // namespace

const std::vector<OwnApi::Route>& OwnApi::routes() {
  static const std::vector<Route> all = {
      {"GET", "/about", Scope::Read, &OwnApi::about},
      {"GET", "/openapi.json", Scope::Read, &OwnApi::openapi},
      {"GET", "/me", Scope::Read, &OwnApi::me},
      {"GET", "/metrics", Scope::Read, &OwnApi::metrics},
      {"GET", "/infrastructures", Scope::Read, &OwnApi::list_infrastructures},
      {"POST", "/infrastructures", Scope::Plan, &OwnApi::create_infrastructure},
      {"GET", "/infrastructures/{infrastructure}", Scope::Read, &OwnApi::get_infrastructure},
      {"DELETE", "/infrastructures/{infrastructure}", Scope::Plan, &OwnApi::remove_infrastructure},
      {"GET", "/infrastructures/{infrastructure}/program", Scope::Read, &OwnApi::get_program},
      {"GET", "/infrastructures/{infrastructure}/receipt", Scope::Read, &OwnApi::get_receipt},
      {"GET", "/infrastructures/{infrastructure}/files", Scope::Read, &OwnApi::list_files},
      {"PUT", "/infrastructures/{infrastructure}/files/{path}", Scope::Plan, nullptr},  // Upload
      {"DELETE", "/infrastructures/{infrastructure}/files/{path}", Scope::Plan, &OwnApi::remove_file},
      {"POST", "/infrastructures/{infrastructure}/look", Scope::Plan, &OwnApi::look_at_data},
      {"GET", "/infrastructures/{infrastructure}/logs", Scope::Read, &OwnApi::list_logs},
      {"GET", "/infrastructures/{infrastructure}/logs/{path}", Scope::Read, &OwnApi::get_log},
      {"POST", "/infrastructures/{infrastructure}/cancel", Scope::Apply, &OwnApi::cancel_job},
      {"GET", "/infrastructures/{infrastructure}/results", Scope::Read, &OwnApi::list_results},
      {"GET", "/infrastructures/{infrastructure}/results/{path}", Scope::Read, &OwnApi::get_result},
      {"POST", "/infrastructures/{infrastructure}/predict", Scope::Read, &OwnApi::predict},
      {"POST", "/plans", Scope::Plan, &OwnApi::make_plan},
      {"GET", "/plans/{plan}", Scope::Read, &OwnApi::get_plan},
      {"POST", "/runs", Scope::Apply, &OwnApi::start_run},
      {"GET", "/runs", Scope::Read, &OwnApi::list_runs},
      {"GET", "/runs/{run}", Scope::Read, &OwnApi::get_run},
      {"POST", "/runs/{run}/stop", Scope::Apply, &OwnApi::stop_run},
      {"GET", "/runs/{run}/events", Scope::Read, &OwnApi::get_events},
      {"GET", "/jobs", Scope::Read, &OwnApi::list_jobs},
      {"GET", "/webhooks", Scope::Read, &OwnApi::list_webhooks},
      {"POST", "/webhooks", Scope::Apply, &OwnApi::add_webhook},
      {"DELETE", "/webhooks/{webhook}", Scope::Apply, &OwnApi::remove_webhook},
      {"GET", "/recommend", Scope::Read, &OwnApi::get_recommend},
      {"POST", "/recommend", Scope::Plan, &OwnApi::post_recommend},
      {"POST", "/rehearsals", Scope::Plan, &OwnApi::rehearse},
      {"GET", "/farms", Scope::Read, &OwnApi::list_farms},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}", Scope::Read, &OwnApi::get_farm},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}/tasks", Scope::Read, &OwnApi::list_tasks},
      {"POST", "/infrastructures/{infrastructure}/farms/{farm}/tasks", Scope::Apply, &OwnApi::add_tasks},
      {"POST", "/infrastructures/{infrastructure}/farms/{farm}/retry", Scope::Apply, &OwnApi::retry_tasks},
      {"POST", "/infrastructures/{infrastructure}/farms/{farm}/cancel", Scope::Apply, &OwnApi::cancel_tasks},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}/curves", Scope::Read, &OwnApi::get_curves},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}/timeline", Scope::Read, &OwnApi::get_timeline},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}/logs/{task}", Scope::Read,
       &OwnApi::get_task_log},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}/outputs/{task}", Scope::Read,
       &OwnApi::list_outputs},
      {"GET", "/infrastructures/{infrastructure}/farms/{farm}/outputs/{task}/{path}", Scope::Read,
       &OwnApi::get_output},
      {"GET", "/measurements", Scope::Read, &OwnApi::get_measurements},
      {"POST", "/measurements", Scope::Plan, &OwnApi::add_measurements},
      {"GET", "/prices", Scope::Read, &OwnApi::prices},
      {"GET", "/costs", Scope::Read, &OwnApi::costs},
  };
  return all;
}

OwnApi::OwnApi(Users& users, Access& access, Workspaces& workspaces, Webhooks& webhooks)
    : users_(users), access_(access), workspaces_(workspaces), webhooks_(webhooks) {}

Begun OwnApi::begin(const httpd::RequestHead& head, const Caller& caller) {
  auto path = head.segments();
  auto parameters = head.parameters();
  if (!path.ok()) return error_answer(404, "not_found", "there is no such address");
  if (!parameters.ok()) return error_answer(parameters.status());
  if (path->size() < 2 || (*path)[1] != "v1")
    return error_answer(404, "not_found", "this service has the version v1 of the API");
  path->erase(path->begin(), path->begin() + 2);
  std::set<std::string> allowed;  // by other methods
  for (const Route& route : routes()) {
    auto held = path_parameters(route.path, *path);
    if (!held) continue;
    // The server sends no body for HEAD.
    if (route.method != head.method && !(head.method == "HEAD" && route.method == "GET")) {
      allowed.emplace(route.method);
      if (route.method == "GET") allowed.insert("HEAD");
      continue;
    }
    if (!caller.may(route.scope))
      return error_answer(403, "auth",
                          fmt::format("this needs the scope {}; your token has {}", scope_name(route.scope),
                                      scope_name(caller.scope)));
    static const std::string none;
    const OwnCall call{head, none, caller, std::move(*held), {parameters->begin(), parameters->end()}};
    if (!route.handler) return begin_upload(call);
    return with_body(head, kLargestBody, [this, &route, head, call](const std::string& body) {
      OwnCall whole{head, body, call.caller, call.path, call.parameters};
      return (this->*route.handler)(whole);
    });
  }
  if (allowed.empty()) return error_answer(404, "not_found", "there is no such address");
  return not_allowed(head.method, join(std::vector<std::string>(allowed.begin(), allowed.end()), ", "));
}

Result<std::shared_ptr<Workspace>> OwnApi::find(const OwnCall& call, const std::string& id) const {
  return seen(call, workspaces_.find(id), id);
}

Result<std::shared_ptr<Workspace>> OwnApi::find_of(const OwnCall& call, const std::string& part) const {
  return seen(call, workspaces_.find_of(part), part);
}

Result<std::shared_ptr<Workspace>> OwnApi::seen(const OwnCall& call, Result<std::shared_ptr<Workspace>> found,
                                                const std::string& id) const {
  if (found.ok() && !call.caller.may_touch((*found)->owner()))
    return not_found("there is no infrastructure " + id);
  return found;
}

std::vector<std::shared_ptr<Workspace>> OwnApi::all(const OwnCall& call) const {
  auto all = workspaces_.all();
  std::erase_if(all, [&](const auto& one) { return !call.caller.may_touch(one->owner()); });
  return all;
}

void OwnApi::count(int status) {
  const size_t kind = size_t(std::clamp(status / 100, 0, 5));
  answers_[kind].fetch_add(1, std::memory_order_relaxed);
}

Answer OwnApi::about(OwnCall&) {
  Json all = Json::array();
  for (const Route& route : routes())
    all.push_back({{"method", route.method}, {"path", route.path}, {"scope", scope_name(route.scope)}});
  return json_answer({{"name", "radlc"},
                      {"version", kVersionText},
                      {"routes", std::move(all)},
                      {"account_routes", AccountApi::described()}});
}

Answer OwnApi::openapi(OwnCall&) {
  auto text = read_file(program_folder() + "/../share/radlc/openapi.json", kLargestDocument);
  if (!text.ok()) return error_answer(text.status());
  return {.body = std::move(*text)};
}

Answer OwnApi::me(OwnCall& call) {
  return json_answer({{"user", call.caller.user}, {"scope", scope_name(call.caller.scope)}});
}

// Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats).
Answer OwnApi::metrics(OwnCall& call) {
  std::map<std::string, size_t> infrastructures, runs;
  size_t nodes = 0;
  MoneySum price;
  for (const auto& one : all(call)) {
    const Json row = one->summary();
    ++infrastructures[row.value("state", "unknown")];
    nodes += row.value("nodes", size_t{0});
    for (const Json& amount : row.value("price_per_hour", Json::array())) price.add(amount.get<Money>());
    for (const WorkspaceRun& run : one->runs()) ++runs[std::string(state_name(run.state))];
  }
  std::string text = "# TYPE radlc_infrastructures gauge\n";
  for (const auto& [state, count] : infrastructures)
    text += fmt::format("radlc_infrastructures{{state=\"{}\"}} {}\n", state, count);
  text += "# TYPE radlc_runs gauge\n";
  for (const auto& [state, count] : runs)
    text += fmt::format("radlc_runs{{state=\"{}\"}} {}\n", state, count);
  text += fmt::format("# TYPE radlc_nodes gauge\nradlc_nodes {}\n# TYPE radlc_price_per_hour gauge\n", nodes);
  for (const Money& amount : price.amounts())
    text += fmt::format("radlc_price_per_hour{{currency=\"{}\"}} {}\n", amount.currency, amount.units());
  text += "# TYPE radlc_http_answers_total counter\n";
  for (size_t kind = 1; kind < 6; ++kind)
    text += fmt::format("radlc_http_answers_total{{status=\"{}xx\"}} {}\n", kind, answers_[kind].load());
  return {.body = std::move(text), .type = "text/plain; version=0.0.4"};
}

}  // namespace radl::serve

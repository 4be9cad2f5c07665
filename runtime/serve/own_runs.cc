// Runs of the own API, and their events.
#include <algorithm>

#include "common/files.h"
#include "runtime/serve/own_api.h"

namespace radl::serve {
namespace {

using httpd::Answer;

constexpr size_t kMostEvents = 10000;  // of one answer

Json run_json(const Workspace& of, const WorkspaceRun& run) {
  Json json = to_json(run);
  json["infrastructure"] = of.id();
  json["name"] = of.name();
  return json;
}

Result<WorkspaceRun> run_of(const Workspace& of, const std::string& id) {
  auto run = of.find_run(id);
  if (!run) return not_found("there is no run " + id);
  return *run;
}

// Whether the token of the caller was neither revoked nor expired.
bool is_valid(Access& access, const Caller& caller) {
  if (caller.token == access.owner().token) return true;
  auto tokens = access.tokens().list(caller);
  return tokens.ok() && std::ranges::find(*tokens, caller.token, &Token::id) != tokens->end();
}

}  // namespace

Answer OwnApi::start_run(OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto plan = text_in(*body, "plan");
  if (!plan.ok()) return error_answer(plan.status());
  auto found = find_of(call, *plan);
  if (!found.ok()) return error_answer(not_found("there is no plan " + *plan));
  auto secrets = inputs_in(*body);
  if (!secrets.ok()) return error_answer(secrets.status());
  auto run = (*found)->run(*plan, call.caller.user, *secrets);
  if (!run.ok()) return error_answer(run.status());
  Answer answer = json_answer(run_json(**found, *run), 202);
  answer.headers.emplace_back("Location", "/api/v1/runs/" + run->id);
  return answer;
}

Answer OwnApi::list_runs(OwnCall& call) {
  const std::string of = call.parameter("infrastructure");
  std::vector<std::pair<double, Json>> found;
  for (const auto& one : all(call)) {
    if (!of.empty() && one->id() != of) continue;
    for (const WorkspaceRun& run : one->runs()) found.emplace_back(run.asked, run_json(*one, run));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  Json all = Json::array();
  for (auto& [asked, run] : found) all.push_back(std::move(run));
  return json_answer({{"runs", std::move(all)}});
}

Answer OwnApi::get_run(OwnCall& call) {
  auto found = find_of(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  auto run = run_of(**found, call.path[0]);
  return run.ok() ? json_answer(run_json(**found, *run)) : error_answer(run.status());
}

Answer OwnApi::stop_run(OwnCall& call) {
  auto found = find_of(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  if (auto run = run_of(**found, call.path[0]); !run.ok()) return error_answer(run.status());
  if (!(*found)->stop_run(call.path[0]))
    return error_answer(409, "conflict", "the run " + call.path[0] + " is over");
  return json_answer(run_json(**found, *run_of(**found, call.path[0])), 202);
}

// Server-sent events if Accept asks for them, otherwise those that there are, as JSON.
Answer OwnApi::get_events(OwnCall& call) {
  auto found = find_of(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  if (auto run = run_of(**found, call.path[0]); !run.ok()) return error_answer(run.status());
  unsigned long long from = 1;
  if (const std::string text = call.parameter("from"); !text.empty()) {
    auto number = whole_number("from", text);
    if (!number.ok()) return error_answer(number.status());
    from = *number;
  }
  if (const auto last = call.head.header("last-event-id")) {
    auto number = whole_number("Last-Event-ID", std::string(*last));
    if (!number.ok()) return error_answer(number.status());
    from = *number + 1;
  }
  if (call.head.header("accept").value_or("").find("text/event-stream") != std::string_view::npos) {
    auto stream =
        streams_.open(*found, call.path[0], from, call.caller,
                      [&access = access_, caller = call.caller] { return is_valid(access, caller); });
    if (!stream.ok()) return error_answer(stream.status());
    Answer answer{.type = "text/event-stream"};
    answer.stream = std::move(*stream);
    return answer;
  }
  RunReader reader(*found, call.path[0], from);
  Json events = Json::array();
  while (events.size() < kMostEvents) {
    auto event = reader.next();
    if (!event) break;
    events.push_back(to_json(*event));
  }
  return json_answer({{"events", std::move(events)}, {"over", reader.over()}});
}

}  // namespace radl::serve

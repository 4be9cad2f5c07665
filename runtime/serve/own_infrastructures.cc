// Infrastructures and plans of the own API.
#include "common/files.h"
#include "runtime/driver/logs.h"
#include "runtime/serve/own_api.h"

namespace radl::serve {
namespace {

using httpd::Answer;

Answer program_refused(const Status& status, Json findings) {
  Answer answer = error_answer(status);
  if (status.code() == Code::Invalid) answer.status = 422;
  if (findings.is_object()) {
    Json body = Json::parse(answer.body);
    body["findings"] = std::move(findings["diagnostics"]);
    answer.body = body.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return answer;
}

}  // namespace

Answer OwnApi::list_infrastructures(OwnCall& call) {
  Json rows = Json::array(), unreadable = Json::array();
  for (const auto& one : all(call)) {
    Json row = one->summary();
    if (row["state"] != "draft") rows.push_back(std::move(row));
  }
  if (call.caller.may(Scope::Admin))  // whose it is cannot be read
    for (const auto& [id, why] : workspaces_.unreadable())
      unreadable.push_back({{"infrastructure", id}, {"error", why}});
  return json_answer({{"infrastructures", std::move(rows)}, {"unreadable", std::move(unreadable)}});
}

Answer OwnApi::create_infrastructure(OwnCall& call) {
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto name = text_in(*body, "name");
  if (!name.ok()) return error_answer(name.status());
  auto temporary = flag_in(*body, "temporary");
  if (!temporary.ok()) return error_answer(temporary.status());
  auto made = workspaces_.create(*name, call.caller.user, *temporary);
  if (!made.ok()) return error_answer(made.status());
  Answer answer = json_answer((*made)->summary(), 201);
  answer.headers.emplace_back("Location", "/api/v1/infrastructures/" + (*made)->id());
  return answer;
}

Answer OwnApi::get_infrastructure(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  Json json = (*found)->summary();
  auto now = (*found)->snapshot();
  if (!now.ok()) return error_answer(now.status());
  json["snapshot"] = to_json(*now);
  // Steps that a run is at now; the snapshot has them as interrupted.
  json["running"] =
      driver::running_steps(*users_.of((*found)->owner()).host, (*found)->state_place(), (*found)->name());
  json["runs"] = Json::array();
  for (const WorkspaceRun& run : (*found)->runs()) json["runs"].push_back(to_json(run));
  json["receipt"] = (*found)->receipt().has_value();
  return json_answer(json);
}

Answer OwnApi::remove_infrastructure(OwnCall& call) {
  if (auto found = find(call, call.path[0]); !found.ok()) return error_answer(found.status());
  const Status removed = workspaces_.remove(call.path[0], call.caller.may(Scope::Apply));
  return removed.ok() ? Answer{.status = 204, .type = "text/plain"} : error_answer(removed);
}

Answer OwnApi::get_program(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  std::string text = (*found)->program();
  if (text.empty())
    return error_answer(404, "not_found", "infrastructure " + call.path[0] + " has no program yet");
  return {.body = std::move(text), .type = "text/plain; charset=utf-8"};
}

Answer OwnApi::get_receipt(OwnCall& call) {
  auto found = find(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  const auto receipt = (*found)->receipt();
  return receipt ? json_answer(*receipt)
                 : error_answer(404, "not_found",
                                "infrastructure " + call.path[0] + " has no receipt: it was not destroyed");
}

// Trainings and programs, as the states have them.
Answer OwnApi::list_jobs(OwnCall& call) {
  Json jobs = Json::array(), unreadable = Json::array();
  for (const auto& one : all(call)) {
    const Json row = one->summary();
    if (row.contains("unreadable")) {
      unreadable.push_back(unreadable_row(*one, Status(Code::Corrupt, row.value("unreadable", ""))));
      continue;
    }
    if (row.value("jobs", 0) == 0) continue;
    auto now = one->snapshot();
    if (!now.ok()) {
      unreadable.push_back(unreadable_row(*one, now.status()));
      continue;
    }
    for (const StepRecord* job : driver::jobs_of(*now))
      jobs.push_back({{"infrastructure", one->id()},
                      {"name", one->name()},
                      {"job", job->id},
                      {"kind", job->kind},
                      {"state", step_status_name(job->status)},
                      {"nodes", job->nodes},
                      {"seconds", job->seconds},
                      {"finished", job->finished_at}});
  }
  return json_answer({{"jobs", std::move(jobs)}, {"unreadable", std::move(unreadable)}});
}

Answer OwnApi::make_plan(OwnCall& call) {
  const auto slot = plans_.take(call.caller.user);
  if (!slot) return error_answer(429, "retry", "too many plans are being made", "try again in a few seconds");
  auto body = call.json();
  if (!body.ok()) return error_answer(body.status());
  auto query = plan_query_from(*body);
  auto id = text_in(*body, "infrastructure");
  if (!query.ok()) return error_answer(query.status());
  if (!id.ok()) return error_answer(id.status());
  if (id->empty()) return error_answer(invalid("'infrastructure' is missing: create one first"));
  auto found = find(call, *id);
  if (!found.ok()) return error_answer(found.status());
  if (query->command != "destroy") {
    auto program = query->program.empty() ? (*found)->program_of(query->sources) : query->program;
    if (!program.ok()) return error_answer(program.status());
    if (Status may = may_compile(call, *program); !may.ok()) return error_answer(may);
    query->checked = std::move(*program);
  }
  Json findings;
  auto plan = (*found)->plan(*query, findings);
  if (!plan.ok()) return program_refused(plan.status(), std::move(findings));
  Json json = std::move(*plan);
  if (findings.is_object()) json["findings"] = std::move(findings["diagnostics"]);
  return json_answer(json, 201);
}

Answer OwnApi::get_plan(OwnCall& call) {
  auto found = find_of(call, call.path[0]);
  if (!found.ok()) return error_answer(found.status());
  auto plan = (*found)->read_plan(call.path[0]);
  return plan.ok() ? json_answer(*plan) : error_answer(plan.status());
}

}  // namespace radl::serve

// The plans of a workspace: made, kept, and compared with what a run would do.
#include <algorithm>
#include <set>

#include "common/files.h"
#include "compiler/diag/render.h"
#include "runtime/plan/forecast.h"
#include "runtime/plan/render.h"
#include "runtime/serve/workspace.h"
#include "runtime/serve/workspace_run.h"

namespace radl::serve {
namespace {

constexpr size_t kLargestPlan = size_t{64} << 20;

bool is_plan_id(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
}

}  // namespace

Status stays_within(const Json& shown, const Plan& now) {
  std::set<std::pair<std::string, std::string>> approved;
  for (const Json& action : shown.value("actions", Json::array()))
    approved.emplace(action.value("id", ""), action.value("verb", ""));
  for (const Action& action : now.actions) {
    const bool harmless = action.verb == Verb::Create || action.verb == Verb::Run;
    if (approved.contains({action.id, std::string(verb_name(action.verb))})) continue;
    // After an interruption, what was to be created may exist already, or must be created again.
    if (harmless && std::ranges::any_of(approved, [&](const auto& one) { return one.first == action.id; }))
      continue;
    return Status(Code::Conflict, std::string(verb_name(action.verb)) + " " + action.id +
                                      " is not in the plan that was shown: " + action.why)
        .with_hint("plan again");
  }
  return {};
}

Status Workspace::write_program(const std::string& text) {
  if (text == program()) return {};
  if (busy())
    return Status(Code::Conflict, "a run of this infrastructure goes on")
        .with_hint("stop it, or wait until it ends, before you change the program");
  return write_file_atomic(folder_ + "/program.radl", text, 0600);
}

Status Workspace::compile(const PlanQuery& query, driver::Project& project, Json& findings) const {
  driver::ProjectOptions options = project_options();
  options.inputs = query.inputs;
  if (query.command == "scale") {
    driver::ScaleRequest scale;
    scale.system = query.system;
    scale.count = query.count;
    project.scale = scale;
  }
  const Status loaded = driver::load_project(*settings_.host, options, {}, project);
  findings = Json::parse(render_json(project.diagnostics, project.sources), nullptr, false);
  if (loaded.ok() || !loaded.message().empty()) return loaded;
  return Status(Code::Invalid, "the program has errors");
}

Result<Json> Workspace::plan(const PlanQuery& query, Json& findings) {
  std::lock_guard one_at_a_time(planning_);
  if (query.command == "destroy") return plan_destroy();
  if (!query.program.empty())
    if (Status written = write_program(query.program); !written.ok()) return written;
  return plan_apply(query, findings);
}

Json Workspace::keep_plan(const PlanQuery& query, const driver::Preview& preview, const std::string& saved,
                          Status& kept) {
  Json json = radl::to_json(preview.plan);
  json["id"] = id_ + "-" + random_token(settings_.host->world->random).substr(0, 8);
  json["infrastructure"] = id_;
  json["name"] = name_;
  json["command"] = query.command;
  json["made"] = settings_.host->world->clock.wall_seconds();
  json["inputs"] = query.inputs;
  json["summary"] = summary_line(preview.plan);
  json["forecasts"] = Json::array();
  for (const PlanForecast& forecast : preview.forecasts) json["forecasts"].push_back(radl::to_json(forecast));
  if (query.command == "scale") json["scale"] = {{"system", query.system}, {"count", query.count}};
  const std::string id = json["id"];
  if (!saved.empty()) kept = write_file_atomic(saved_path(id), saved, 0600);
  if (kept.ok())
    kept = write_file_atomic(plan_path(id), json.dump(1, ' ', false, Json::error_handler_t::replace), 0600);
  return json;
}

Result<Json> Workspace::plan_apply(const PlanQuery& query, Json& findings) {
  driver::Project project;
  if (Status compiled = compile(query, project, findings); !compiled.ok()) return compiled;
  driver::PreviewRequest request;
  request.machinery = machinery_options();
  request.plan.refresh = query.refresh;
  request.plan.max_cost = query.max_cost;
  driver::Preview preview;
  Cancellation cancellation;
  std::vector<std::string> notes;
  const auto tell = [&](const driver::Notice& notice) {
    if (notice.kind != driver::Notice::Kind::Progress) notes.push_back(notice.text);
  };
  if (Status made = driver::preview_apply(project, request, cancellation, tell, preview); !made.ok()) {
    if (project.refused)
      findings =
          Json::parse(render_json(project.refused->diagnostics, project.refused->sources), nullptr, false);
    return made;
  }
  Status kept;
  Json json = keep_plan(query, preview,
                        query.command == "apply" ? driver::saved_plan_of(project, preview.plan) : "", kept);
  if (!kept.ok()) return kept;
  for (std::string& note : notes) json["notes"].push_back(std::move(note));
  if (const Status within = driver::within_max_cost(request.plan, preview.plan); !within.ok())
    json["above_budget"] = within.text();
  return json;
}

Result<Json> Workspace::plan_destroy() {
  driver::ProjectOptions options = project_options();
  options.files.clear();
  driver::PreviewRequest request;
  request.machinery = machinery_options();
  Cancellation cancellation;
  driver::Preview preview;
  if (Status made = driver::preview_destroy(*settings_.host, options, request, cancellation, preview);
      !made.ok())
    return made;
  PlanQuery query;
  query.command = "destroy";
  Status kept;
  Json json = keep_plan(query, preview, "", kept);
  if (!kept.ok()) return kept;
  return json;
}

Result<Json> Workspace::read_plan(const std::string& plan) const {
  const Status missing = not_found("there is no plan " + plan);
  if (!is_plan_id(plan)) return missing;
  auto text = read_file(plan_path(plan), kLargestPlan);
  if (!text.ok()) return text.status().code() == Code::NotFound ? missing : text.status();
  Json json = Json::parse(*text, nullptr, false);
  if (json.is_discarded()) return Status(Code::Corrupt, plan_path(plan) + ": not a plan");
  return json;
}

}  // namespace radl::serve

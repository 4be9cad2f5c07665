// The plans of a workspace: made, kept, and compared with what a run would do.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "common/files.h"
#include "common/guarded.h"
#include "compiler/diag/render.h"
#include "runtime/plan/forecast.h"
#include "runtime/plan/render.h"
#include "runtime/serve/workspace.h"
#include "runtime/serve/workspace_run.h"

namespace radl::serve {
namespace {

constexpr size_t kLargestPlan = size_t{64} << 20;
constexpr size_t kKeptPlans = 20, kKeptRunPlans = 100;  // of one infrastructure

bool is_plan_id(const std::string& text) {
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz-") == std::string::npos;
}

}  // namespace

Status stays_within(const Json& shown, const Plan& now) {
  const Json of = shown.value("of", Json::object());
  // A run that was interrupted may have made the state, and with it its lineage.
  const std::string lineage = of.value("lineage", "");
  if (of.value("source_digest", "") != now.source_digest)
    return Status(Code::Conflict, "the program, its files or its inputs are not those of the plan")
        .with_hint("plan again");
  if (!lineage.empty() && lineage != now.lineage)
    return Status(Code::Conflict, "the infrastructure was destroyed and created again since the plan")
        .with_hint("plan again");
  std::map<std::string, std::set<std::string>> approved;  // verbs, by action
  for (const Json& action : shown.value("actions", Json::array()))
    approved[action.value("id", "")].insert(action.value("verb", ""));
  for (const Json& address : shown.value("uncertain", Json::array()))
    approved[address.get<std::string>()].insert(std::string(verb_name(Verb::Delete)));
  for (const Action& action : now.actions) {
    // A job that runs since an earlier run, whose supervisor has ended meanwhile.
    if (action.verb == Verb::Run && !action.joins.empty()) continue;
    const auto its = approved.find(action.id);
    if (its != approved.end()) {
      const std::string verb(verb_name(action.verb));
      if (its->second.contains(verb)) continue;
      // After an interruption, what was to be created may exist already, or must be created again.
      const bool made = action.verb == Verb::Create || action.verb == Verb::Run;
      if (made && !its->second.contains("delete") && !its->second.contains("forget")) continue;
    }
    return Status(Code::Conflict, std::string(verb_name(action.verb)) + " " + action.id +
                                      " is not in the plan that was shown: " + action.why)
        .with_hint("plan again");
  }
  return {};
}

Status check_secrets(const Json& shown, const std::vector<std::string>& secrets) {
  const auto names = shown.value("secret_inputs", std::vector<std::string>());
  std::set<std::string> missing(names.begin(), names.end());
  for (const std::string& one : secrets) {
    const std::string name = one.substr(0, one.find('='));
    if (std::ranges::find(names, name) == names.end())
      return invalid("'" + name + "' is not a secret input of the plan: other inputs are part of it");
    missing.erase(name);
  }
  if (missing.empty()) return {};
  return invalid("the secret input '" + *missing.begin() + "' is missing")
      .with_hint("a plan holds no secrets: send 'inputs' with the run");
}

Status Workspace::compile(const PlanQuery& query, driver::Project& project, Json& findings) const {
  driver::ProjectOptions options = project_options(query.sources);
  options.inputs = query.inputs;
  project.scale = query.scale;
  const Status loaded = driver::load_project(*settings_.host, options, {}, project);
  findings = Json::parse(render_json(project.diagnostics, project.sources), nullptr, false);
  if (loaded.ok() || !loaded.message().empty()) return loaded;
  return Status(Code::Invalid, "the program has errors");
}

Result<Json> Workspace::plan(PlanQuery query, Json& findings) {
  last_used_ = settings_.host->world->clock.wall_seconds();
  Cancellation cancellation;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return Status(Code::Cancelled, "the service is shutting down");
    if (removed_) return not_found("there is no infrastructure " + id_);
    if (planning_)
      return Status(Code::Conflict, "another plan of " + id_ + " is being made")
          .with_hint("try again when it is ready");
    planning_ = &cancellation;
  }
  auto made = [&]() -> Result<Json> {
    if (query.command != "destroy")
      if (Status used = use_program(query); !used.ok()) return used;
    Result<Json> plan = Status(Code::Internal, "no plan was made");
    const Status done = guarded([&] {
      plan = query.command == "destroy" ? plan_destroy(query, cancellation)
                                        : plan_apply(query, cancellation, findings);
      return plan.status();
    });
    if (!done.ok()) return done;
    return plan;
  }();
  std::lock_guard lock(mutex_);
  planning_ = nullptr;
  return made;
}

namespace {

std::string view_of(const std::string& view, const driver::Preview& preview) {
  if (view == "dot") return render_dot(preview.plan);
  if (view == "markdown") return render_markdown(preview.plan, preview.forecasts);
  if (view == "html") return render_html(preview.plan, preview.forecasts);
  return render_text(preview.plan,
                     {.full = view == "full", .brief = view == "brief", .forecasts = preview.forecasts});
}

// The inputs of a program, and what each job of it is told. Of a secret it has the name.
Json settings_of(const ir::Program& program) {
  Json jobs = Json::object();
  for (const ir::Step& step : program.steps) {
    if (!ir::is_job(step.kind)) continue;
    Json& job = jobs[step.id] = step.kind == ir::StepKind::Training ? step.training : step.program;
    job.erase("farm");  // it may have thousands of tasks
  }
  return {{"inputs", program.inputs}, {"jobs", std::move(jobs)}};
}

}  // namespace

Json Workspace::shown(const PlanQuery& query, const driver::Preview& preview) const {
  Json json = radl::to_json(preview.plan);
  json["id"] = id_ + "-" + random_token(settings_.host->world->random).substr(0, 8);
  json["infrastructure"] = id_;
  json["name"] = name_;
  json["command"] = query.command;
  json["made"] = settings_.host->world->clock.wall_seconds();
  json["summary"] = summary_line(preview.plan);
  json["text"] = render_text(preview.plan, {.forecasts = preview.forecasts});
  json["forecasts"] = Json::array();
  for (const PlanForecast& forecast : preview.forecasts) json["forecasts"].push_back(radl::to_json(forecast));
  json["request"] = to_json(query);
  json["interrupted"] = preview.snapshot.interrupted();
  if (!preview.uncertain.empty()) json["uncertain"] = preview.uncertain;
  if (!query.view.empty()) json["view"] = view_of(query.view, preview);
  return json;
}

Status Workspace::keep_plan(const Json& plan, const std::string& saved) const {
  const std::string id = plan.at("id"), text = plan.dump(1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > kLargestPlan)
    return Status(Code::Quota, fmt::format("the plan has {} MiB, more than the {} MiB that the service keeps",
                                           text.size() >> 20, kLargestPlan >> 20));
  if (!saved.empty())
    if (Status kept = write_file_atomic(saved_path(id), saved, 0600); !kept.ok()) return kept;
  prune_plans();
  return write_file_atomic(plan_path(id), text, 0600);
}

// The newest plans that were run stay, to compare runs; what an apply takes goes once the run is over.
void Workspace::prune_plans() const {
  namespace fs = std::filesystem;
  std::vector<std::pair<fs::file_time_type, std::string>> plans;  // by age
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_ + "/plans", error))
    if (entry.path().extension() == ".json")
      plans.emplace_back(entry.last_write_time(error), entry.path().stem());
  if (plans.size() < kKeptPlans) return;
  std::ranges::sort(plans);
  plans.resize(plans.size() - kKeptPlans + 1);
  std::ranges::reverse(plans);  // the newest first
  size_t kept = 0;
  std::lock_guard lock(mutex_);
  for (const auto& [age, plan] : plans) {
    const auto run = std::ranges::find(runs_, plan, &WorkspaceRun::plan);
    const bool over = run == runs_.end() || run->over();
    if (over) fs::remove(saved_path(plan), error);
    if (run == runs_.end() || (over && ++kept > kKeptRunPlans)) fs::remove(plan_path(plan), error);
  }
}

Result<Json> Workspace::plan_apply(const PlanQuery& query, Cancellation& cancellation, Json& findings) {
  if (!users_.trusts(owner_))
    return Status(Code::Auth, "programs of " + owner_ + " run on this computer only with --trust-users");
  auto stored = accounts();
  if (!stored.ok()) return stored.status();
  const MemoryFile file(*stored, "the accounts of " + owner_);
  if (!file.status().ok()) return file.status();
  driver::Project project;
  const Status compiled = compile(query, project, findings);
  if (Status unchanged = check_unchanged(query); !unchanged.ok()) {
    findings = Json();
    return unchanged;
  }
  if (!compiled.ok()) return compiled;
  driver::PreviewRequest request;
  request.machinery = machinery_options(file, query);
  request.plan = query.plan;
  driver::Preview preview;
  std::vector<std::string> notes;
  const auto tell = [&](const driver::Notice& notice) {
    if (notice.kind != driver::Notice::Kind::Progress) notes.push_back(notice.text);
  };
  const Status made = driver::preview_apply(project, request, cancellation, tell, preview);
  if (Status unchanged = check_unchanged(query); !unchanged.ok()) {  // it may have read them again
    findings = Json();
    return unchanged;
  }
  if (!made.ok()) {
    if (project.refused)
      findings =
          Json::parse(render_json(project.refused->diagnostics, project.refused->sources), nullptr, false);
    return made;
  }
  PlanQuery planned = query;
  // The run gets the nodes that the plan shows, also if its number is a difference.
  if (planned.scale && !planned.scale->reset)
    planned.scale->exactly = project.scaled[planned.scale->system].ordinals;
  Json json = shown(planned, preview);
  json["settings"] = settings_of(project.compiled.program);
  json["inputs"] = Json::array();
  for (const std::string& input : query.inputs) {
    const std::string name = input.substr(0, input.find('='));
    const auto found = project.compiled.program.inputs.find(name);
    if (found != project.compiled.program.inputs.end() && ir::is_secret(found->second))
      json["secret_inputs"].push_back(name);
    else
      json["inputs"].push_back(input);
  }
  for (std::string& note : notes) json["notes"].push_back(std::move(note));
  if (!query.plan.max_cost.empty()) json["max_cost"] = query.plan.max_cost;
  if (const Status within = driver::within_max_cost(request.plan, preview.plan); !within.ok())
    json["above_budget"] = within.text();
  const std::string saved = query.command == "apply" ? driver::saved_plan_of(project, preview.plan) : "";
  if (Status kept = keep_plan(json, saved); !kept.ok()) return kept;
  return json;
}

Result<Json> Workspace::plan_destroy(const PlanQuery& query, Cancellation& cancellation) {
  auto stored = accounts();
  if (!stored.ok()) return stored.status();
  const MemoryFile file(*stored, "the accounts of " + owner_);
  if (!file.status().ok()) return file.status();
  driver::ProjectOptions options = project_options({});
  options.files.clear();
  driver::PreviewRequest request;
  request.machinery = machinery_options(file, query);
  request.plan = query.plan;
  driver::Preview preview;
  if (Status made = driver::preview_destroy(*settings_.host, options, request, cancellation, preview);
      !made.ok())
    return made.code() == Code::NotFound ? not_found("nothing of " + name_ + " exists") : made;
  Json json = shown(query, preview);
  if (Status kept = keep_plan(json, ""); !kept.ok()) return kept;
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

#include "runtime/driver/plan_request.h"

#include "runtime/driver/given_back.h"
#include "runtime/driver/program_facts.h"
#include "runtime/figures/runs_file.h"
#include "runtime/plan/budget.h"
#include "runtime/plan/measured.h"

namespace radl::driver {

Status within_max_cost(const PlanRequest& request, const Plan& plan) {
  if (request.max_cost.empty()) return {};
  auto budget = parse_budget(request.max_cost);
  if (!budget.ok()) return std::move(budget).status();
  return check_budget(plan, *budget);
}

Status hold_to_max_cost(const PlanRequest& request, Plan& plan) {
  if (Status within = within_max_cost(request, plan); !within.ok() || request.max_cost.empty()) return within;
  keep_within(plan, *parse_budget(request.max_cost));
  return {};
}

PlanQuestion question_of(Project& project, const Machinery& machinery, const PlanRequest& request,
                         const Tell& tell) {
  PlanQuestion question;
  if (auto budget = parse_budget(request.max_cost); budget.ok()) project.farm_nodes.budget = *budget;
  question.world = machinery.host().world;
  question.program = &project.compiled.program;
  question.secrets = &project.compiled.secrets;
  question.clouds = &machinery.clouds();
  question.catalog = &machinery.catalog();
  question.replace.insert(request.replace.begin(), request.replace.end());
  question.targets.insert(request.targets.begin(), request.targets.end());
  question.lost = request.lost;
  question.project_words = project.words;
  question.refresh = request.refresh;
  question.no_room = request.no_room;
  question.prepare = [&project, &machinery](const Snapshot& snapshot) {
    return use_state_of(project, snapshot, machinery.clouds());
  };
  question.farm_systems = [&project] { return farm_systems_of(project); };
  question.scaled = &project.scaled;
  question.caller = machinery.host().variable("RADL_CALLER_CIDR");
  question.leave_jobs = project.scale.has_value() || project.farm_nodes.frees;
  question.tell = [&tell](const std::string& line) { tell({Notice::Kind::Progress, line}); };
  question.measured = [&machinery, &project] {
    auto measured = measured_by(newest_runs(machinery.host().runs_file()));
    const auto& steps = project.compiled.program.steps;
    if (std::any_of(steps.begin(), steps.end(),
                    [](const ir::Step& step) { return step.kind == ir::StepKind::Program; }))
      add_program_times(machinery.host(), measured);
    return measured;
  };
  return question;
}

Result<Plan> plan_for(Project& project, const Snapshot& snapshot, const Machinery& machinery,
                      const PlanRequest& request, const Observed* observed, const Tell& tell,
                      const Stop& stop) {
  PlanQuestion question = question_of(project, machinery, request, tell);
  question.stop = stop;
  auto plan = make_plan_of(question, snapshot, observed,
                           work_directory_of(project.state_directory, project.compiled.program.name,
                                             machinery.host().environment()));
  if (plan.ok()) {
    tell_what_stays(*plan, snapshot);
    const std::vector<std::string>& notes = project.farm_nodes.notes;
    plan->notes.insert(plan->notes.end(), notes.begin(), notes.end());
  }
  return plan;
}

}  // namespace radl::driver

// The options of a plan, and the plan of a project from all data of its state and clouds.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/notice.h"
#include "runtime/driver/project.h"
#include "runtime/run/planning.h"

namespace radl::driver {

struct PlanRequest {
  std::vector<std::string> replace, targets;
  std::set<std::string> lost;  // nodes lost by this apply: PlanQuestion
  bool refresh = false;
  std::string max_cost;  // "2.50 EUR/h"; empty: none
  NoRoom no_room;        // shortages found by this apply so far
};

// Invalid if the plan costs more than request.max_cost allows; the hint says what would fit.
Status within_max_cost(const PlanRequest& request, const Plan& plan);
// Same, and removes fallbacks above the limit from the plan.
Status hold_to_max_cost(const PlanRequest& request, Plan& plan);

// For runtime/run. The project, the machinery and `tell` must outlive the result.
PlanQuestion question_of(Project& project, const Machinery& machinery, const PlanRequest& request,
                         const Tell& tell);

// make_plan with all data of the state and the machinery. `observed` may be null. With a refresh, also
// surveys each cloud of the program; if that fails, the plan uses the catalogue and notes it
// (Plan::unseen).
Result<Plan> plan_for(Project& project, const Snapshot& snapshot, const Machinery& machinery,
                      const PlanRequest& request, const Observed* observed, const Tell& tell,
                      const Stop& stop = {});

}  // namespace radl::driver

// What a plan is asked for, and the plan of a project by everything that its state and its clouds know.
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
  std::set<std::string> lost;  // nodes that this apply has lost: PlanQuestion
  bool refresh = false;
  std::string max_cost;  // "2.50 EUR/h"; empty: none
  NoRoom no_room;        // what this apply has found out so far
};

// Invalid if the plan costs more than request.max_cost allows; says what would fit.
Status within_max_cost(const PlanRequest& request, const Plan& plan);
// The same, and takes from the plan what an apply could fall back to above it.
Status hold_to_max_cost(const PlanRequest& request, Plan& plan);

// For runtime/run; the project, the machinery and `tell` outlive it.
PlanQuestion question_of(Project& project, const Machinery& machinery, const PlanRequest& request,
                         const Tell& tell);

// make_plan with everything that the state and the machinery know. `observed` may be null. With a refresh
// each cloud of the program is surveyed as well; if that fails, the plan is made from the catalogue and says
// so (Plan::unseen).
Result<Plan> plan_for(Project& project, const Snapshot& snapshot, const Machinery& machinery,
                      const PlanRequest& request, const Observed* observed, const Tell& tell,
                      const Stop& stop = {});

}  // namespace radl::driver

// Previews an apply or a destroy for `radlc plan`. Changes nothing.
#pragma once

#include <vector>

#include "runtime/driver/plan_forecasts.h"
#include "runtime/driver/plan_request.h"
#include "runtime/driver/prices_elsewhere.h"
#include "runtime/driver/project_state.h"

namespace radl::driver {

struct Preview {
  Snapshot snapshot;
  Plan plan;
  std::vector<PlanForecast> forecasts;
  std::vector<PriceElsewhere> elsewhere;  // if there are no resources yet
  // For a destroy: resources that may exist although the state lacks them, because a run was interrupted
  // while it created them. The destroy looks them up first, and deletes those that it finds.
  std::vector<std::string> uncertain;
};

struct PreviewRequest {
  MachineryOptions machinery;
  PlanRequest plan;
  bool plan_alone = false;  // without forecasts and prices elsewhere
};

// Previews an apply of the project. With plan.refresh, also inspects clouds and nodes. If the compiler would
// explain an error, the explanation is in project.refused.
Status preview_apply(Project& project, const PreviewRequest& request, Cancellation& cancellation,
                     const Tell& tell, Preview& preview);
// Previews a destroy of plan.targets, or of everything if it is empty. With plan.refresh, also queries the
// clouds for other resources with the infrastructure's tag, which a destroy keeps.
Status preview_destroy(const Host& host, const ProjectOptions& options, const PreviewRequest& request,
                       Cancellation& cancellation, Preview& preview);

// Returns the plan as a file for `radlc apply`.
std::string saved_plan_of(const Project& project, const Plan& plan);

}  // namespace radl::driver

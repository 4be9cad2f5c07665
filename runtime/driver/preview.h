// What `radlc plan` shows: what an apply or a destroy would do. Changes nothing.
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
  std::vector<PriceElsewhere> elsewhere;  // of what has no resources yet
  // Of a destroy: resources that the state does not have and that may exist, because a run was interrupted
  // while it created them. The destroy looks them up first, and deletes those that it finds.
  std::vector<std::string> uncertain;
};

struct PreviewRequest {
  MachineryOptions machinery;
  PlanRequest plan;
  bool plan_alone = false;  // without forecasts and prices elsewhere
};

// Of an apply of the project. With plan.refresh, clouds and nodes are looked at as well. If the compiler
// would explain an error, the explanation is in project.refused.
Status preview_apply(Project& project, const PreviewRequest& request, Cancellation& cancellation,
                     const Tell& tell, Preview& preview);
// Of a destroy of plan.targets; none: of everything. With plan.refresh, clouds are asked what else carries
// the infrastructure's tag, which a destroy leaves alone.
Status preview_destroy(const Host& host, const ProjectOptions& options, const PreviewRequest& request,
                       Cancellation& cancellation, Preview& preview);

// The plan as a file that an apply takes.
std::string saved_plan_of(const Project& project, const Plan& plan);

}  // namespace radl::driver

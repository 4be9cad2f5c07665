// Gives elastic systems the nodes that their schedulers request. The host's computer calls
// the clouds, so credentials stay there (docs/decisions/0026-scaling.md). A front end
// repeats:
//
//   autoscale.look(stop);
//   for (const AutoscaleStep& step : autoscale.steps()) autoscale.done(step, /* an Apply with step.scale */);
#pragma once

#include <memory>
#include <vector>

#include "runtime/driver/notice.h"
#include "runtime/driver/project.h"

namespace radl::driver {

struct AutoscaleStep {
  size_t which = 0;  // index into the resources `elastic`
  ScaleRequest scale;
};

class Autoscale {
 public:
  // `project` and `options`, with which it was loaded, must outlive this object.
  Autoscale(const Project& project, const ProjectOptions& options, Tell tell);
  ~Autoscale();
  Autoscale(const Autoscale&) = delete;
  Autoscale& operator=(const Autoscale&) = delete;

  // Invalid: the file has no resource `elastic`.
  Status begin();
  // Queries each scheduler for the nodes that it wants now.
  void look(const Stop& stop);
  // The changes found by the last look.
  std::vector<AutoscaleStep> steps() const;
  // Reports the result. A failed step is retried later, because the choice is recorded.
  void done(const AutoscaleStep& step, bool ok);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace radl::driver

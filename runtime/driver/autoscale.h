// Gives elastic systems the nodes that their schedulers ask for. It is the host's computer that asks the
// clouds: their credentials stay here (docs/decisions/0026-scaling.md). A front end calls, until it has
// enough:
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
  size_t which = 0;  // of the resources `elastic`
  ScaleRequest scale;
};

class Autoscale {
 public:
  // `project` and `options`, which it was loaded with, outlive it.
  Autoscale(const Project& project, const ProjectOptions& options, Tell tell);
  ~Autoscale();
  Autoscale(const Autoscale&) = delete;
  Autoscale& operator=(const Autoscale&) = delete;

  // Invalid: the file has no resource `elastic`.
  Status begin();
  // Asks each scheduler which nodes it wants now.
  void look(const Stop& stop);
  // What the last look found to be changed.
  std::vector<AutoscaleStep> steps() const;
  // A step that failed is tried again some time later: what was chosen is recorded.
  void done(const AutoscaleStep& step, bool ok);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace radl::driver

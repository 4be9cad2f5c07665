// Real machines behind simulated ones: nodes of this computer on which steps run.
//
// In: the ID of a simulated machine. Out: a working node, created at first use and removed with the machine.
// A folder records the nodes, so that the run's next process finds them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "runtime/base/context.h"
#include "runtime/clouds/cloud.h"
#include "runtime/steps/step_runner.h"
#include "runtime/trial/trial.h"

namespace radl {

class RealMachines {
 public:
  RealMachines(const RealParts& parts, std::string folder);

  // nullopt: steps of this kind are simulated.
  std::optional<Result<StepOutcome>> run(const StepContext& context, const ir::Step& step,
                                         const std::vector<NodeHandle>& nodes);
  std::optional<Result<std::vector<Change>>> observe(const StepContext& context, const ir::Step& step,
                                                     const std::vector<NodeHandle>& nodes);
  // Removes the nodes of machines that no longer exist; all nodes if `machines` is empty.
  Status keep_only(const std::set<std::string>& machines);

 private:
  struct Real {
    Context context;
    StepContext steps;
    std::vector<NodeHandle> nodes;
  };
  Status make_real(const StepContext& context, const std::vector<NodeHandle>& nodes, Real& real);
  Result<nlohmann::json> node_of(const NodeHandle& handle);
  Result<Remote*> connection_to(const std::string& machine, const nlohmann::json& attributes);
  Result<std::vector<Seen>> all();
  Status remove(const Seen& seen);

  const RealParts& parts_;
  Context context_;  // for the nodes' own cloud
  std::mutex mutex_;
  std::map<std::string, nlohmann::json> attributes_;          // by machine
  std::map<std::string, std::unique_ptr<Remote>> connected_;  // by machine
};

}  // namespace radl

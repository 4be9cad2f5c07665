// Machines of simulated clouds that are real behind that: nodes of this computer on which steps run.
//
// In: the id of a simulated machine. Out: a node that answers, made when it is first asked for, gone when the
// machine is. Where the nodes are is in a folder, so that the next process of a run finds them.
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

  // nullopt: steps of this kind are played.
  std::optional<Result<StepOutcome>> run(const StepContext& context, const ir::Step& step,
                                         const std::vector<NodeHandle>& nodes);
  std::optional<Result<std::vector<Change>>> observe(const StepContext& context, const ir::Step& step,
                                                     const std::vector<NodeHandle>& nodes);
  // Removes the nodes of machines that are not there any more; of all where `machines` is empty.
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
  Context context_;  // of the nodes' own cloud
  std::mutex mutex_;
  std::map<std::string, nlohmann::json> attributes_;          // by machine
  std::map<std::string, std::unique_ptr<Remote>> connected_;  // by machine
};

}  // namespace radl

// Machines of simulated clouds as seen by steps: logins and steps that take time and succeed or fail.
// Internal to runtime/trial.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>

#include "runtime/clouds/simulated/draws.h"
#include "runtime/clouds/simulated/simulated_cloud.h"
#include "runtime/exec/executor.h"
#include "runtime/trial/real_machines.h"

namespace radl {

class SimulatedMachines : public StepRunner {
 public:
  // The cloud of a node.
  using CloudOf = std::function<simulated::SimulatedCloud*(const ir::Node&)>;
  // Called before and after each step: "step worker[0]/tools".
  using Watch = std::function<void(const std::string& what)>;

  // `ran_path`: a file with a line per executed step, which survives a
  // killed process; empty: in memory. `real` may be null: steps are
  // simulated.
  SimulatedMachines(CloudOf cloud_of, Clock& clock, uint64_t seed, const simulated::Faults& faults,
                    Watch watch, std::string ran_path, std::unique_ptr<RealMachines> real);
  RealMachines* real() { return real_.get(); }
  void set_faults(const simulated::Faults& faults) { faults_ = faults; }

  Connector connector();
  Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                      const std::vector<NodeHandle>& nodes) override;
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override;

  std::function<void()> beside;  // called once while a job runs; may be empty

  // Number of joined jobs that this process had left running.
  int joined() const { return joined_; }
  // True if exactly this step has run on exactly this machine.
  bool has_run(const std::string& step, const std::string& digest, const std::string& machine) const;

 private:
  Status take_time(const StepContext& context, const std::vector<NodeHandle>& nodes, double seconds);
  Status runs(const ir::Node& node, const Json& attributes);
  Status note(const std::string& line);

  CloudOf cloud_of_;
  Clock& clock_;
  simulated::Draws draws_;
  simulated::Faults faults_;
  Watch watch_;
  std::string ran_path_;
  std::set<std::string> ran_;
  std::map<std::string, double> left_;  // jobs that continue independently: StepContext::job_run -> seconds
  int joined_ = 0;
  std::unique_ptr<RealMachines> real_;
};

}  // namespace radl

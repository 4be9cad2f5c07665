// The machines of simulated clouds as steps see them: logins that work or not, steps that take their time and
// succeed or not. Internal to runtime/trial.
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
  // Which cloud a node is in.
  using CloudOf = std::function<simulated::SimulatedCloud*(const ir::Node&)>;
  // Before and after each step: "step worker[0]/tools".
  using Watch = std::function<void(const std::string& what)>;

  // `ran_path`: a file with a line for every step that has run, so that a killed process does not take it
  // along; empty: in memory.
  // `real` may be null: steps are played.
  SimulatedMachines(CloudOf cloud_of, Clock& clock, uint64_t seed, const simulated::Faults& faults,
                    Watch watch, std::string ran_path, std::unique_ptr<RealMachines> real);
  RealMachines* real() { return real_.get(); }
  void set_faults(const simulated::Faults& faults) { faults_ = faults; }

  Connector connector();
  Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                      const std::vector<NodeHandle>& nodes) override;
  Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                          const std::vector<NodeHandle>& nodes) override;

  std::function<void()> beside;  // called once, while a job runs; may be empty

  // How many jobs were joined that this process had left running.
  int joined() const { return joined_; }
  // Whether this very step has run on this very machine.
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
  std::map<std::string, double> left_;  // jobs that run on by themselves: StepContext::job_run -> seconds
  int joined_ = 0;
  std::unique_ptr<RealMachines> real_;
};

}  // namespace radl

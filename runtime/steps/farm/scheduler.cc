#include "runtime/steps/farm/scheduler.h"

#include <fmt/format.h>

#include <cmath>
#include <set>

#include "runtime/steps/farm/agent.h"
#include "runtime/steps/farm/slurm_agent.h"

namespace radl::farm {
namespace {

class OwnAgents : public Scheduler {
 public:
  std::string agent(const std::string& folder, const std::string& metrics,
                    const std::string& notices) const override {
    return agent_script(folder, metrics, notices);
  }
  std::string header(const TaskRecord&, double) const override { return ""; }
  bool is_cluster() const override { return false; }
};

class Slurm : public Scheduler {
 public:
  explicit Slurm(SlurmSettings settings) : settings_(std::move(settings)) {}

  std::string agent(const std::string& folder, const std::string& metrics,
                    const std::string&) const override {
    return slurm_agent_script(folder, metrics, settings_);
  }

  std::string header(const TaskRecord& task, double timeout_seconds) const override {
    constexpr int64_t kMiB = 1 << 20;
    const Resources& needs = task.task.needs;
    std::string lines;
    const auto add = [&](const std::string& option) { lines += "#SBATCH " + option + "\n"; };
    add("--ntasks=1");
    add("--nodes=1");
    add(fmt::format("--cpus-per-task={}", std::max<int64_t>(1, (needs.cpu + 999) / 1000)));
    if (needs.memory > 0) add(fmt::format("--mem={}M", (needs.memory + kMiB - 1) / kMiB));
    if (needs.gpu > 0) add(fmt::format("--gres=gpu:{}", needs.gpu));
    if (!settings_.partition.empty()) add("--partition=" + settings_.partition);
    if (!settings_.account.empty()) add("--account=" + settings_.account);
    if (!settings_.qos.empty()) add("--qos=" + settings_.qos);
    // radlc ends it at its timeout; Slurm only if radlc does not work on the farm then.
    if (timeout_seconds > 0) add(fmt::format("--time={:.0f}", std::ceil(timeout_seconds / 60) + 1));
    for (const std::string& option : settings_.options) add(option);
    const std::set<std::string> failed(task.failed_machines.begin(), task.failed_machines.end());
    if (!failed.empty()) add(fmt::format("--exclude={}", fmt::join(failed, ",")));
    return lines;
  }

  bool is_cluster() const override { return true; }

 private:
  const SlurmSettings settings_;
};

}  // namespace

std::unique_ptr<Scheduler> scheduler_of(const FarmSettings& settings) {
  if (settings.scheduler == SchedulerKind::Slurm) return std::make_unique<Slurm>(settings.slurm);
  return std::make_unique<OwnAgents>();
}

}  // namespace radl::farm

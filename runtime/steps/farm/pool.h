// The nodes of a farm: what they are, the program's files on them, and what a task is started with there.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/farm/table.h"
#include "runtime/steps/farm/scheduler.h"
#include "runtime/steps/jobs/may_run.h"
#include "runtime/steps/program/launch.h"
#include "runtime/steps/program/preparing.h"

namespace radl::farm {

// In the job's folder on a node, for its owner alone: a JSON list of the secrets that the tasks have there.
// Whoever prints what a task has printed masks them.
inline constexpr const char* kSecretsFile = "farm-secrets";

class Pool {
 public:
  // All outlive it. `program`: docs/ir.md, without its `farm`. `job`: the folder's name on nodes. `engine`:
  // tasks get radl-train, as $RADL_TRAIN.
  Pool(const Json& program, const std::vector<NodeHandle>& nodes, const Context& context,
       const std::string& job, bool engine, const Scheduler& scheduler, program::Preparing::Tell tell);

  const std::vector<std::unique_ptr<jobs::Member>>& members() const { return members_; }
  jobs::Member& member(size_t node) const { return *members_[node]; }
  std::optional<size_t> find(const std::string& address) const;
  // What a node still has of an earlier radlc's run of the farm.
  enum class Left { Nothing, Outputs, Tasks };  // Outputs: also logs; its tasks were killed. Tasks: all
  // Brings the program's files to each node that lacks them for this run. With `fresh` nothing of an earlier
  // run stays, otherwise its checkpoints. Returns what each node has left.
  Result<std::vector<Left>> prepare(const std::string& run, bool fresh, jobs::MayRun& may_run);
  // Local nodes share their computer as if there were this many.
  void share_among(size_t nodes) { shared_by_ = nodes; }
  // What tasks of a node may use together. Local nodes share one computer's.
  Resources capacity(size_t node) const;
  // The script that becomes the task.
  std::string script(size_t node, TaskRecord task) const;

 private:
  Status look();
  // Of a node's GPUs, the numbers of the first and of the one after its last.
  std::pair<int64_t, int64_t> devices_of(size_t node) const;
  int64_t local_nodes() const;
  Status write_secrets(size_t node) const;
  Status bring_engine(size_t node) const;

  const Json& program_;
  const std::vector<NodeHandle>& nodes_;
  const Context& context_;
  const bool engine_;
  const Scheduler& scheduler_;
  size_t shared_by_ = 0;
  std::vector<std::unique_ptr<jobs::Member>> members_;
  program::Preparing preparing_;
  std::vector<jobs::Member::Look> looks_;
  std::vector<program::Place> places_;
};

}  // namespace radl::farm

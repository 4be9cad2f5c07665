// Interface between the executor and steps: one runner per ir::StepKind.
//
// In: a step of the IR with unknown values and secrets resolved, and its nodes. Out: its output.
#pragma once

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/status.h"
#include "compiler/ir/ir.h"
#include "runtime/base/change.h"
#include "runtime/base/context.h"
#include "runtime/net/remote.h"

namespace radl {

using Json = nlohmann::json;

// A node as seen by steps.
struct NodeHandle {
  std::string address;  // "worker[0]"
  const ir::Node* node = nullptr;
  Json attributes;    // see Seen in runtime/clouds/cloud.h
  std::string cloud;  // CloudId::text() of its cloud
  // Connects at first use and keeps the session; shared by all steps of the node.
  std::function<Result<Remote*>()> connect;
};

struct StepEvent {
  std::string step, node;
  std::string kind;  // "task", "output", "metric"
  Json data;
};

struct StepContext {
  const Context* context = nullptr;  // infrastructure, work directory, cancellation, secrets
  const ir::Program* program = nullptr;
  // All current nodes of the infrastructure, for inventories.
  std::function<std::vector<NodeHandle>()> all_nodes = [] { return std::vector<NodeHandle>(); };
  std::function<void(const StepEvent&)> emit = [](const StepEvent&) {};
  std::string log_path;                             // the step's full log on this computer
  Json previous_output;                             // of an earlier run; null if none
  std::chrono::steady_clock::time_point run_begun;  // start of the apply that the step belongs to
  // What an earlier attempt of this run executed and must not be repeated: resources by their names in native
  // runners.
  std::set<std::string>* ran = nullptr;
  // A job calls it when its processes have been started, or found, on all its nodes, and several times a
  // second while it follows them.
  std::function<void()> under_way = [] {};
  // Checked then. True: leave the job running; run() ends with kLeftRunning.
  std::function<bool()> lets_go = [] { return false; };
  // For a job: identifies its run in its folder, including values and secrets passed to it. Empty: the step's
  // digest.
  std::string job_run;
  // For a job: addresses of nodes where processes of its folder may run. The runner updates it.
  std::set<std::string>* may_run = nullptr;
  bool resume = false;  // Training: resume from the last checkpoint, if any; false: start over
  // Training: join it if it runs, and collect it if it has ended. Otherwise do not start it; run() ends with
  // kLeftRunning.
  bool only_joins = false;
};

// The result for a supervisor whose job continues without it.
inline constexpr Code kLeftRunning = Code::Exists;

struct StepOutcome {
  std::vector<Change> changes;   // actual changes; empty: nothing differed
  Json output = Json::object();  // stored in the state: a training's model path, digest, metrics; a native
                                 // step's observations
  // Called once the outcome is recorded; may be empty. After an earlier kill, the next run collects it again.
  std::function<void()> recorded;
};

class StepRunner {
 public:
  virtual ~StepRunner() = default;
  // What a run would change now, without changing it. Unsupported if the kind cannot tell.
  virtual Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                              const std::vector<NodeHandle>& nodes) = 0;
  // Observe -> diff -> apply. A failure's message names node, recipe, step and task, and ends with the last
  // lines of output.
  virtual Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                                  const std::vector<NodeHandle>& nodes) = 0;
};

}  // namespace radl

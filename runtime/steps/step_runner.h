// How the executor gets a step done: one runner for each ir::StepKind.
//
// In: a step of the IR with unknown values and secrets resolved, and the nodes it is for. Out: its output.
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

// A node as the steps see it.
struct NodeHandle {
  std::string address;  // "worker[0]"
  const ir::Node* node = nullptr;
  Json attributes;    // see Seen in runtime/clouds/cloud.h
  std::string cloud;  // CloudId::text() of the one that it is in
  // Connects on first use and keeps the session; shared by all steps of the node.
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
  // Every node of the infrastructure that is there now, for inventories.
  std::function<std::vector<NodeHandle>()> all_nodes = [] { return std::vector<NodeHandle>(); };
  std::function<void(const StepEvent&)> emit = [](const StepEvent&) {};
  std::string log_path;                             // the step's full log on this computer
  Json previous_output;                             // of an earlier run, null if none
  std::chrono::steady_clock::time_point run_begun;  // the apply that this step is part of
  // What ran in an earlier attempt of this run and must not be repeated: resources as native runners name
  // them.
  std::set<std::string>* ran = nullptr;
  // A job calls it when its processes have been started, or found, on all of its nodes, and several times a
  // second while it follows them.
  std::function<void()> under_way = [] {};
  // Asked then: true: the job is left running as it is, and run() ends with kLeftRunning.
  std::function<bool()> lets_go = [] { return false; };
  // Of a job: what tells its run from any other in its folder, also values and secrets that it is given.
  // Empty: the step's digest.
  std::string job_run;
  // Of a job: addresses of nodes where processes of its folder may run. The runner keeps it up to date.
  std::set<std::string>* may_run = nullptr;
  bool resume = false;  // Training: go on from the last checkpoint if there is one; false: start anew
  // Training: joined if it runs, and brought back if it has ended. Otherwise it is not started, and run()
  // ends with kLeftRunning.
  bool only_joins = false;
};

// How a job ends for its supervisor that runs on without it.
inline constexpr Code kLeftRunning = Code::Exists;

struct StepOutcome {
  std::vector<Change> changes;   // what was really changed; empty: everything was as wanted
  Json output = Json::object();  // kept in the state: training's model path, digest, metrics; a native
                                 // step's observations
  // Called once the outcome is recorded; may be empty. A run that is killed before that collects it again.
  std::function<void()> recorded;
};

class StepRunner {
 public:
  virtual ~StepRunner() = default;
  // What running would change now, without changing anything. Unsupported where the kind cannot tell.
  virtual Result<std::vector<Change>> observe(const StepContext& context, const ir::Step& step,
                                              const std::vector<NodeHandle>& nodes) = 0;
  // Observe -> diff -> apply. A failure's message names node, recipe, step and task and ends with the last
  // lines.
  virtual Result<StepOutcome> run(const StepContext& context, const ir::Step& step,
                                  const std::vector<NodeHandle>& nodes) = 0;
};

}  // namespace radl

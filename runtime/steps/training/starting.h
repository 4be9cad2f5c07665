// Brings a training to its nodes and starts its processes there: all of them, or workers that join those that
// run.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/data.h"
#include "runtime/steps/training/engine_bundle.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

using jobs::Member;

class Starting {
 public:
  // For the user: what happened on a node ("ok" or "failed"), and how long it took.
  using Tell = std::function<void(const std::string& node, const std::string& what, const char* state,
                                  double seconds)>;
  struct Parts {
    const Context& context;
    const Json& training;
    const std::vector<NodeHandle>& nodes;
    const std::vector<std::unique_ptr<Member>>& members;  // by node
    const std::vector<Member::Look>& looks;               // by node
    Layout& layout;                                       // gets its ports
    std::string run;                                      // Member::write_run
  };

  // All that `parts` refers to outlives it.
  Starting(Parts parts, Tell tell, std::function<void(const std::string& line)> say);

  // Before the first start(): chooses ports and a key for a training that starts.
  void begin();
  // The same for new workers on `nodes` that join a training that runs: its chief has its key and addresses.
  Status join(Member& chief, const std::set<size_t>& nodes);

  // Whether the workers of a node of join() are yet to be started; of any.
  bool arrives(size_t node) const;
  bool any_arrives() const;

  // What follows is for one node, and may run for several side by side.
  // Engine and data, and an empty folder. `fresh`: without what an earlier attempt has left.
  Status prepare(size_t node, bool fresh);
  // Writes the job files and starts the processes of a prepared node.
  Status start(size_t node, bool resume);
  // Both, for a node of join().
  Status arrive(size_t node);
  // Starts some of its processes again, also if another run has prepared the node.
  Status restart(size_t node, const std::vector<Task>& tasks);

 private:
  void choose_port(Task& task);
  Status let_resume(Member& member, const Task& task);

  const Parts parts_;
  const Tell tell_;
  TrainingData data_;
  std::vector<Engine> engines_;  // by node
  std::string key_;
  Json cluster_;
  mutable std::mutex mutex_;
  std::set<size_t> arriving_;
};

}  // namespace radl::training

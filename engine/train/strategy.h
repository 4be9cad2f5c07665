// What distributes a training: which batches this member computes, and what becomes of its gradients.
//
// The loop (training.h) owns batches, optimizer and rates, and calls a strategy from one thread: begin()
// once, then next() and finish() in turn. A new strategy is one file and a line in make_strategy().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/link.h"
#include "engine/cluster/party.h"
#include "engine/optim/training_state.h"
#include "engine/train/overseer.h"
#include "engine/train/setup.h"

namespace radl::engine {

// The network and what its updates change.
struct Learner {
  Network& network;
  std::unique_ptr<Optimizer> optimizer;  // null where servers update the weights
  WeightAverage average;

  Trainee places() { return {network.parameters(), network.statistics(), *optimizer, average}; }
};

struct Work {
  bool finished = false;          // the run is done
  std::optional<uint64_t> batch;  // to be computed now; none: this member only takes part in the exchange
  std::optional<uint64_t> then;   // probably the next
};

// A batch that was computed.
struct Outcome {
  uint64_t batch = 0;
  float rate = 0;
  TrainSums sums;                    // of this one batch
  uint32_t pieces = 1;               // how often the network's statistics were updated
  std::span<const float> gradients;  // of the mean loss
};

// What becomes of the weights.
struct Update {
  TrainSums sums;  // of the batches in it, of all members
  std::span<const float> numbers,
      statistics;                // what was exchanged: an update with a number that is not finite fails
  bool optimizer_takes = false;  // the numbers are a gradient for the optimizer
  float scale = 1;               // factor on that gradient,
  uint64_t rate_of = 0;          // at the rate of this batch
  bool border = true;            // the state after it may be kept: it is the same for all members
  uint64_t done = 0;             // batches of the run that are done then
  uint64_t newest = 0;           // the last of the batches in it
};

// Of the chief's duties: which outputs it writes, and what it has recorded so far (write_history()).
struct SharedDuties {
  bool model = false, checkpoint = false, events = false, report = false;
  std::string history;
};
SharedDuties duties_of(const Job& job);

class Strategy {
 public:
  virtual ~Strategy() = default;
  // What all members start from: the chief's state, which the others get; batches that are done included.
  virtual Status begin(TrainingState& state) = 0;
  // Cancelled: this process was asked to stop and has nothing to tell the others.
  virtual Result<Work> next() = 0;
  // The gradients [begin, end) of the batch are final, while the backward pass goes on.
  virtual void ready(size_t begin, size_t end) { (void)begin, (void)end; }
  // `own`: null if next() gave no batch. If it fails, it has restored the state of the last border.
  virtual Result<Update> finish(const Outcome* own) = 0;
  // Whether the failure of next() or finish() only ended the view of the members: rejoin() helps.
  virtual bool broken() const { return false; }
  // In: this member's last border. Out: the one from which all resume.
  virtual Status rejoin(TrainingState& state) { return (void)state, Status(); }
  // Whether this member has the chief's duties. It may get them in begin() and rejoin().
  virtual bool leads() const { return false; }
  // Of a chief that next() has told to end: its machine is about to be interrupted, and another member takes
  // over once it is gone. It must end without end().
  virtual bool hands_over() const { return false; }
  // Of the chief: what a successor needs to know, and whether it has what it takes.
  virtual void share(const SharedDuties& duties) { (void)duties; }
  // As the last chief has shared them.
  virtual SharedDuties shared() const { return {}; }
  // Who joined and left since the last call, as far as this member is told.
  virtual std::vector<cluster::PeerChange> take_changes() { return {}; }
  // The update was found good, and the optimizer has taken it.
  virtual void applied(const Update&) {}
  // The update was found bad: restores the state of the last border.
  virtual void undo() {}
  // At a border: which batches are done, and what this strategy keeps beside the optimizer's state.
  virtual void store(TrainingState& out) const { (void)out; }
  // At a border: the weights that all members share, if this member's network is ahead of them; else empty.
  virtual std::span<const float> shared_weights() const { return {}; }
  // At a border: whether the weights are a mean of several members', each after steps of its own.
  virtual bool holds_mean() const { return false; }
  // Tells the others why this member ends; Ok: there is nothing left to do.
  virtual void end(const Status& why) { (void)why; }
  virtual cluster::Traffic traffic() const { return {}; }
  // How long this member has exchanged sums with others, waiting for them included; 0 where there are none.
  virtual double exchange_seconds() const { return 0; }
};

struct StrategyContext {
  const Job& job;
  const RunHooks& hooks;
  Setup& setup;
  Learner& learner;
  Progress& progress;
};

// Connects to the other members, where there are any.
Result<std::unique_ptr<Strategy>> make_strategy(const StrategyContext& context);

// One for each way to train; make_strategy() chooses.
using StrategyResult = Result<std::unique_ptr<Strategy>>;
StrategyResult make_local(const StrategyContext& context);          // one process
StrategyResult make_server_worker(const StrategyContext& context);  // servers hold the weights
StrategyResult make_all_reduce(const StrategyContext& context);  // all hold the weights and add up gradients
StrategyResult make_local_steps(
    const StrategyContext& context);  // ... and average weights after some own steps

StrategyResult make_auto(const StrategyContext& context);  // the one of these two that the links call for

}  // namespace radl::engine

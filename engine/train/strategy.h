// A strategy distributes a training: it assigns batches to this member and decides what its gradients do.
//
// The loop (training.h) owns batches, optimizer and rates, and calls a strategy from one thread: begin()
// once, then next() and finish() in turn. A new strategy needs one file and a line in make_strategy().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cluster/link.h"
#include "engine/cluster/party.h"
#include "engine/optim/training_state.h"
#include "engine/train/duties.h"
#include "engine/train/overseer.h"
#include "engine/train/setup.h"

namespace radl::engine {

// The network and the state that updates change.
struct Learner {
  Network& network;
  std::unique_ptr<Optimizer> optimizer;  // null if servers update the weights
  WeightAverage average;

  Trainee places() { return {network.parameters(), network.statistics(), *optimizer, average}; }
};

struct Work {
  bool finished = false;          // the run has ended
  std::optional<uint64_t> batch;  // to compute now; nullopt: only take part in the exchange
  std::optional<uint64_t> then;   // probably next
};

// The result of a computed batch.
struct Outcome {
  uint64_t batch = 0;
  float rate = 0;
  TrainSums sums;                    // of this batch only
  uint32_t pieces = 1;               // how often the network's statistics were updated
  std::span<const float> gradients;  // of the mean loss
};

// The gradients [begin, end) of a batch of so many images. Those outside may not be final.
struct ReadyGradients {
  std::span<const float> gradients;  // all, of the mean loss
  size_t begin = 0, end = 0;
  int images = 0;
};

// How to update the weights.
struct Update {
  TrainSums sums;  // of the batches in it, of all members
  std::span<const float> numbers,
      statistics;                // the exchanged numbers: an update with a non-finite number fails
  bool optimizer_takes = false;  // the numbers are a gradient for the optimizer
  float scale = 1;               // factor on that gradient,
  uint64_t rate_of = 0;          // at the rate of this batch
  bool border = true;            // the state after it is the same for all members and may be kept
  uint64_t done = 0;             // batches of the run that are done afterwards
  uint64_t newest = 0;           // the last batch in it
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Distributes the initial state, including completed batches: the chief's state is sent to the others.
  virtual Status begin(TrainingState& state) = 0;
  // Cancelled: this process was asked to stop and need not inform the others.
  virtual Result<Work> next() = 0;
  // Some gradients of the batch that next() returned are final, while the backward pass continues.
  virtual void ready(const ReadyGradients& ready) { (void)ready; }
  // `own`: null if next() returned no batch. On failure, it has restored the state of the last border.
  virtual Result<Update> finish(const Outcome* own) = 0;
  // True if the failure of next() or finish() only ended the members' view: call rejoin().
  virtual bool broken() const { return false; }
  // In: this member's last border. Out: the border from which all resume.
  virtual Status rejoin(TrainingState& state) { return (void)state, Status(); }
  // True if this member has the chief's duties. begin() and rejoin() may assign them.
  virtual bool leads() const { return false; }
  // Of a chief that next() has told to end: its machine is about to be interrupted, and another member takes
  // over once it is gone. It must end without end().
  virtual bool hands_over() const { return false; }
  // Of the chief: what a successor needs to know, and whether it has what it takes.
  virtual void share(const SharedDuties& duties) { (void)duties; }
  // As shared by the last chief.
  virtual SharedDuties shared() const { return {}; }
  // Members that joined or left since the last call, as far as this member knows.
  virtual std::vector<cluster::PeerChange> take_changes() { return {}; }
  // The update was valid and the optimizer has applied it.
  virtual void applied(const Update&) {}
  // The update was invalid: restores the state of the last border.
  virtual void undo() {}
  // At a border: stores which batches are done, and the strategy's own state.
  virtual void store(TrainingState& out) const { (void)out; }
  // At a border: the weights shared by all members, if this member's network is ahead of them; else empty.
  virtual std::span<const float> shared_weights() const { return {}; }
  // At a border: true if the weights are a mean of several members' weights after individual steps.
  virtual bool holds_mean() const { return false; }
  // Tells the others why this member ends; Ok: no work is left.
  virtual void end(const Status& why) { (void)why; }
  virtual cluster::Traffic traffic() const { return {}; }
  // Total time of exchanging sums, including waits for others; 0 without exchanges.
  virtual double exchange_seconds() const { return 0; }
};

struct StrategyContext {
  const Job& job;
  const RunHooks& hooks;
  Setup& setup;
  Learner& learner;
  Progress& progress;
};

// Connects to the other members, if any.
Result<std::unique_ptr<Strategy>> make_strategy(const StrategyContext& context);

// One per way of training; make_strategy() chooses.
using StrategyResult = Result<std::unique_ptr<Strategy>>;
StrategyResult make_local(const StrategyContext& context);          // one process
StrategyResult make_server_worker(const StrategyContext& context);  // servers hold the weights
StrategyResult make_all_reduce(const StrategyContext& context);  // all hold the weights and add up gradients
StrategyResult make_local_steps(
    const StrategyContext& context);  // also averages weights after several local steps

StrategyResult make_auto(const StrategyContext& context);  // one of these two, depending on the links

}  // namespace radl::engine

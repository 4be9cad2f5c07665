// The chief's duties, whatever trains: progress, evaluation, events, checkpoints, the final model and the
// report.
//
// Used by the single-process loop and by the chief of a cluster. Not thread-safe, but for the writing of
// checkpoints, which goes on in a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/train/checkpoint.h"
#include "engine/train/history.h"
#include "engine/train/progress.h"
#include "engine/train/run.h"
#include "engine/train/setup.h"

namespace radl::engine {

// Sums over training steps since this run began.
struct TrainSums {
  uint64_t steps = 0, correct = 0, images = 0;
  double loss = 0;    // sum of the steps' mean losses
  double waited = 0;  // seconds in which this process waited for exchanges
};

// What is evaluated and exported.
struct EvaluatedWeights {
  std::span<const float> instead;  // of the network's present weights; empty: those
  bool mean = false;  // of several members' weights: the network's running statistics do not fit them
};

class Overseer {
 public:
  // `start`: when the program's run began (for "seconds").
  static Result<std::unique_ptr<Overseer>> make(const Job& job, Setup& setup, Progress& progress,
                                                const RunHooks& hooks);
  virtual ~Overseer() = default;  // waits for a checkpoint that is being written

  // The checkpoint to go on from, by job.resume; checked against this job.
  virtual Result<std::optional<Checkpoint>> resume() = 0;
  // Training begins; `from` batches are done.
  virtual void begin(uint64_t from) = 0;
  // The same, in place of a lost chief. `history`: its record(); "": it has shared none.
  virtual Status take_over(uint64_t from, const std::string& history) = 0;
  // The history up to now, for take_over().
  virtual std::string record() const = 0;
  // `done` batches of the run are done. Writes a step line now and then; Invalid when training has diverged.
  virtual Status step(uint64_t done, const TrainSums& sums) = 0;
  virtual bool evaluation_due(uint64_t done) const = 0;
  // Evaluates the weights and records the result. Invalid if the loss is not finite: the training has
  // diverged.
  virtual Status evaluate(uint64_t done, const EvaluatedWeights& weights) = 0;
  // Never at the run's end: finish() writes that one.
  virtual bool checkpoint_due(uint64_t done) const = 0;
  // Writes it in the background, with the job's and the run's part; waits for the one before. `stalled`:
  // seconds for which the training stood still for it.
  virtual Status save(TrainingState state, double stalled) = 0;
  virtual void peer(const char* kind, const std::string& name, const std::string& text, double silent) = 0;
  // Training is over: final evaluation, last checkpoint, model, report. The network holds the final weights.
  // `last` gives the state, with which more epochs resume; it is called once at most, after an
  // evaluation that has not diverged.
  virtual Result<RunSummary> finish(uint64_t done, const EvaluatedWeights& weights,
                                    const std::function<Result<TrainingState>()>& last) = 0;
  // For the report.
  virtual void note(const char* key, double value) = 0;
  // Waits until what save() began is on the disk.
  virtual Status settle() = 0;
};

}  // namespace radl::engine

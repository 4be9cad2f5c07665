// The chief's duties, for every way of training: progress, evaluation, events, checkpoints, the final model
// and the report.
//
// Used by the single-process loop and by the chief of a cluster. Not thread-safe; writes checkpoints on a
// background thread.
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
  double waited = 0;  // seconds that this process waited for exchanges
};

TrainSums difference(const TrainSums& now, const TrainSums& before);

// The weights to evaluate and export.
struct EvaluatedWeights {
  std::span<const float> instead;  // instead of the network's current weights; empty: those
  bool mean = false;  // mean of several members' weights, which the network's running statistics do not match
};

class Overseer {
 public:
  // `start`: start time of the program's run (for "seconds").
  static Result<std::unique_ptr<Overseer>> make(const Job& job, Setup& setup, Progress& progress,
                                                const RunHooks& hooks);
  virtual ~Overseer() = default;  // waits for a checkpoint in progress

  // The checkpoint to resume from, by job.resume; validated against this job.
  virtual Result<std::optional<Checkpoint>> resume() = 0;
  // Starts training; `from` batches are done.
  virtual void begin(uint64_t from) = 0;
  // Same, replacing a lost chief. `history`: its record(); "" if it shared none.
  virtual Status take_over(uint64_t from, const std::string& history) = 0;
  // The history so far, for take_over().
  virtual std::string record() const = 0;
  // `done` batches of the run are done. Writes a step line now and then. Invalid: training has diverged.
  virtual Status step(uint64_t done, const TrainSums& sums) = 0;
  virtual bool evaluation_due(uint64_t done) const = 0;
  // Evaluates the weights and records the result. Invalid: the loss is not finite, so the training has
  // diverged.
  virtual Status evaluate(uint64_t done, const EvaluatedWeights& weights) = 0;
  // Never true at the run's end: finish() writes that checkpoint.
  virtual bool checkpoint_due(uint64_t done) const = 0;
  // Writes it in the background with the job's and the run's part, after waiting for the previous one.
  // `stalled`: seconds that training stood still for it.
  virtual Status save(TrainingState state, double stalled) = 0;
  virtual void peer(const char* kind, const std::string& name, const std::string& text, double silent) = 0;
  // Training is over: final evaluation, last checkpoint, model, report. The network holds the final weights.
  // `last` returns the state, from which a run with more epochs can resume. Called at most once, after an
  // evaluation that has not diverged.
  virtual Result<RunSummary> finish(uint64_t done, const EvaluatedWeights& weights,
                                    const std::function<Result<TrainingState>()>& last) = 0;
  // Adds a figure to the report.
  virtual void note(const char* key, double value) = 0;
  // Waits until a checkpoint started by save() is on disk.
  virtual Status settle() = 0;
};

}  // namespace radl::engine

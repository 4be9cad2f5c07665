// Runs a job: the entry point of the engine's training half.
//
// In: a job (train/job.h). Out: the model, checkpoints, events, progress and report that it names, and a
// summary. job.task determines this process's part of the work: all of it without a cluster.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/status.h"
#include "common/stop.h"
#include "engine/train/job.h"

namespace radl::engine {

struct RunHooks {
  // Receives each progress line (JSON, no newline), also written to job.progress. Called from any thread, one
  // at a time.
  std::function<void(std::string_view line)> progress;
  // Set by a signal handler: the run writes a checkpoint and returns Cancelled.
  Stop stop;
  // Set when this machine is about to be interrupted: the chief writes a checkpoint immediately and
  // continues; another worker leaves the job.
  const std::atomic<bool>* taken_back = nullptr;
  bool interrupted() const { return taken_back != nullptr && *taken_back; }
};

struct RunSummary {
  std::string task;    // "local", "worker/0", ...
  uint64_t steps = 0;  // of the whole job, including earlier runs
  double epochs = 0;
  double train_loss = 0, train_accuracy = 0;  // over the last epoch
  double test_loss = 0, test_accuracy = 0;    // of the final weights; chief and local only
  double test_accuracy_tta = 0;               // with test-time augmentation; 0 if not requested
  double seconds = 0;                         // of this run, from the call to the end
  double train_seconds = 0;                   // without start-up, final evaluation and export
  double images_per_second = 0;               // training images per training second, of this run
  double data_wait_seconds = 0;           // time the network waited for images; local and workers of servers
  double checkpoint_stall_seconds = 0;    // time that training stood still for checkpoints, in this run
  double checkpoint_writing_seconds = 0;  // time of writing them in parallel with training
  uint64_t skipped = 0;                   // corrupt images skipped, counted each time
  uint64_t resumed_from = 0;              // step of the checkpoint that this run continued; 0: none
  std::string model;                      // folder of the trained model; "" if this task writes none
  std::string report;                     // file of the report; same
};

// Runs the job to its end. Invalid: the job or its data is wrong, or training diverged (the last good
// checkpoint is kept). Cancelled: interrupted, checkpoint written. Lost, Timeout, Auth, Quota, ...: a failure
// of the system or the network.
Result<RunSummary> run_job(const Job& job, const RunHooks& hooks);

// The exit code documented in docs/progress-lines.md for the outcome of run_job.
int exit_code(const Status& status);

}  // namespace radl::engine

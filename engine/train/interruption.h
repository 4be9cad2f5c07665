// Detects that the cloud is about to interrupt this machine, and reports it in advance.
#pragma once

#include <atomic>
#include <memory>

#include "engine/train/job.h"
#include "engine/train/progress.h"

namespace radl::engine {

// A thread that polls every few seconds with one small request. It reports a notice once, as the progress
// line "interruption".
class InterruptionWatch {
 public:
  // Null if the job does not request it.
  static std::unique_ptr<InterruptionWatch> start(const Job& job, Progress& progress);
  virtual ~InterruptionWatch() = default;  // ends the thread
  // Set from the notice on: time to write a checkpoint.
  virtual const std::atomic<bool>& noticed() const = 0;
};

}  // namespace radl::engine

// Looks whether the cloud takes this machine back, and says so before it does.
#pragma once

#include <atomic>
#include <memory>

#include "engine/train/job.h"
#include "engine/train/progress.h"

namespace radl::engine {

// One thread that asks every few seconds, one small request each. A notice is the line "interruption" of the
// progress, once.
class InterruptionWatch {
 public:
  // Null where the job does not ask for it.
  static std::unique_ptr<InterruptionWatch> start(const Job& job, Progress& progress);
  virtual ~InterruptionWatch() = default;  // ends the thread
  // Set from the notice on: time for a checkpoint.
  virtual const std::atomic<bool>& noticed() const = 0;
};

}  // namespace radl::engine

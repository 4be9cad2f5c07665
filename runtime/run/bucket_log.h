// Stores a run's events beside its state in a bucket (state/run_objects.h), with a delay of a few seconds, so
// that other computers can follow the run (run_mirror.h).
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "common/guarded.h"
#include "common/stop.h"
#include "runtime/exec/events.h"
#include "runtime/state/run_objects.h"

namespace radl {

class BucketLog : public EventSink {
 public:
  BucketLog(std::unique_ptr<RunObjects> objects, std::string run)
      : objects_(std::move(objects)), run_(std::move(run)) {}
  ~BucketLog() override { (void)end(Stop().within(std::chrono::seconds(2))); }
  BucketLog(const BucketLog&) = delete;
  BucketLog& operator=(const BucketLog&) = delete;

  // Never waits for the bucket: a background thread writes, from the first event on.
  void emit(const Event& event) override;
  // Writes the remaining events and the end of the run, until `stop`. Returns why a write failed.
  Status end(const Stop& stop);

 private:
  void work();
  void remove_oldest();

  const std::unique_ptr<RunObjects> objects_;
  const std::string run_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable news_;
  std::string next_;  // lines not written yet
  unsigned long long next_first_ = 0, last_ = 0;
  bool begun_ = false, ending_ = false;
  Status status_;
  StopSource over_;
  Stop until_;  // for end()
  Threads threads_;
};

}  // namespace radl

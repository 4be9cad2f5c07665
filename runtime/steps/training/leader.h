// Learns from the progress lines of a training which of its tasks has the chief's duties. Thread-safe.
#pragma once

#include <mutex>

#include "runtime/steps/training/tasks.h"

namespace radl::training {

class Leader {
 public:
  // `layout` must outlive this. `first`: index of the first chief in the tasks of `layout`.
  Leader(const Layout& layout, size_t first) : layout_(layout), task_(first) {}

  // Takes a progress line. Returns true if another task now leads. Lines of several tasks may come in any
  // order: the task that leads from the latest batch on wins, and a task that has finished the run stays the
  // leader.
  bool take(const Json& news);
  size_t task() const;
  bool finished() const;  // true once it has reported that the model is written

 private:
  const Layout& layout_;
  mutable std::mutex mutex_;
  size_t task_;
  double since_ = 0;  // number of finished batches when it became the leader
  bool finished_ = false;
};

}  // namespace radl::training

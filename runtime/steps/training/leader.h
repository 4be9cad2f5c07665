// Which task of a training has the chief's duties, by what the tasks say in their progress lines. Safe to use
// from several threads.
#pragma once

#include <mutex>

#include "runtime/steps/training/tasks.h"

namespace radl::training {

class Leader {
 public:
  // `layout` outlives it. `first`: the index in its tasks of the chief with which it begins.
  Leader(const Layout& layout, size_t first) : layout_(layout), task_(first) {}

  // A progress line. True: another task leads now. Lines of several tasks may come in any order: the one that
  // leads from the latest batch on counts, and one that has finished the run counts for good.
  bool take(const Json& news);
  size_t task() const;
  bool finished() const;  // it has said so: the model is written

 private:
  const Layout& layout_;
  mutable std::mutex mutex_;
  size_t task_;
  double since_ = 0;  // batches that were done when it began to lead
  bool finished_ = false;
};

}  // namespace radl::training

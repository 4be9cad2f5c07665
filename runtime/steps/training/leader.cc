#include "runtime/steps/training/leader.h"

#include <utility>

#include "common/json_values.h"

namespace radl::training {

bool Leader::take(const Json& news) {
  if (!news.is_object()) return false;
  const std::string event = json::text_of(news, "event"), name = json::text_of(news, "task");
  // Of `started` and `finished`, what only the chief says.
  const bool leads = event == "chief" || (event == "started" && news.contains("test_images"));
  const bool ends = event == "finished" && news.contains("test_accuracy");
  if (!leads && !ends) return false;
  const double since = json::number_of(news, "step");
  for (size_t i = 0; i < layout_.tasks.size(); ++i) {
    if (layout_.tasks[i].name() != name) continue;
    std::lock_guard lock(mutex_);
    if (finished_ || (leads && since < since_)) return false;
    since_ = since;
    finished_ = ends;
    return std::exchange(task_, i) != i;
  }
  return false;
}

size_t Leader::task() const {
  std::lock_guard lock(mutex_);
  return task_;
}

bool Leader::finished() const {
  std::lock_guard lock(mutex_);
  return finished_;
}

}  // namespace radl::training

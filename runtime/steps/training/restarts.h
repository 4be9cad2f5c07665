// Which ended processes of a training are started again, and which silent ones are ended.
//
// A task that the others can lose (Layout::may_lose) is started again if it was killed, or lost its link
// while the chief continues: others do its work meanwhile, and it may come back at any time. Any other one is
// not, because its state is lost: the whole training then resumes from its last checkpoint (the executor's
// next attempt).
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/restart_policy.h"
#include "runtime/steps/training/tasks.h"

namespace radl::training {

class Restarts {
 public:
  explicit Restarts(std::function<bool(const Task&)> may_lose) : may_lose_(std::move(may_lose)) {}

  // From the chief's progress lines: it has given this task ("worker/1") up, or has it back.
  void lost(const std::string& task);
  void joined(const std::string& task);
  // None: the training has ended or cannot continue.
  void end();
  // A process has ended: whether it is started again now. Waits up to three seconds for the chief's word if
  // the status alone does not tell, and before a further start in a row (common/restart_policy.h).
  bool again(const Task& task, int exit);
  // Tasks whose process the chief has given up for a while although it still runs (it is stopped, or hangs):
  // to be killed. Each is named once.
  std::vector<std::string> hung();

 private:
  using Clock = std::chrono::steady_clock;
  const std::function<bool(const Task&)> may_lose_;
  std::mutex mutex_;
  std::condition_variable news_;
  std::map<std::string, Clock::time_point> lost_;
  std::set<std::string> told_;                     // by hung()
  std::map<std::string, RestartPolicy> policies_;  // by task
  bool over_ = false;
};

}  // namespace radl::training

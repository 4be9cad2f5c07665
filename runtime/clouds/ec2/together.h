// Batches requests that one call can carry. Requests that arrive during a call wait and go out together in
// the next one. A single request goes out immediately. Batched requests come from tasks that soon issue the
// next one, so a call briefly waits for as many requests as the last one had.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"

namespace radl::ec2 {

class Together {
 public:
  // Makes one call for all of them, on the thread of one of the callers.
  using Send = std::function<Asked(const std::vector<std::string>& ids)>;

  // `moment`: longest wait of a call for as many requests as the last one had; short compared to a
  // call.
  explicit Together(std::chrono::milliseconds moment = std::chrono::milliseconds(10)) : moment_(moment) {}

  // Returns the outcome of the call that carried `id`; `most`: limit of IDs per call. If EC2 rejects a batch
  // because of one ID, sends each ID separately.
  Asked ask(const std::string& id, size_t most, const Send& send);

  // Number of requests queued for the next call.
  size_t waiting();

 private:
  struct Batch {
    std::vector<std::string> ids;
    Asked answer;
    bool over = false;
  };
  const std::chrono::milliseconds moment_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Batch> next_;
  bool under_way_ = false;  // a call is running, or waits for more requests
  size_t last_ = 0;         // size of the last batch
};

}  // namespace radl::ec2

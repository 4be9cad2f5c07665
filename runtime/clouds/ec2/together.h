// Requests that one call can carry: what comes while a call is under way waits for its end and goes out in
// the next one, all of it together. Alone, a request goes out at once. Those who came together are asked for
// by tasks that soon have the next one: a call waits for as many as the last one had, for a moment at most.
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
  // One call for all of them, made by one of those who wait.
  using Send = std::function<Asked(const std::vector<std::string>& ids)>;

  // `moment`: what a call waits at most for as many as the last one had; next to what a call takes it is
  // little.
  explicit Together(std::chrono::milliseconds moment = std::chrono::milliseconds(10)) : moment_(moment) {}

  // What came of the call that carried `id`; `most` ids in one. Where EC2 refuses it because of one of them,
  // each is asked for by itself.
  Asked ask(const std::string& id, size_t most, const Send& send);

  // How many the next call has so far.
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
  bool under_way_ = false;  // or waits for its company
  size_t last_ = 0;         // how many the last call had
};

}  // namespace radl::ec2

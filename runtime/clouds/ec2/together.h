// Requests that one call can carry: what comes while a call is under way waits for its end and goes out in
// the next one, all of it together. Nobody waits for company: alone, a request goes out at once.
#pragma once

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

  // What came of the call that carried `id`; `most` ids in one. Where EC2 refuses it because of one of them,
  // each is asked for by itself.
  Asked ask(const std::string& id, size_t most, const Send& send);

 private:
  struct Batch {
    std::vector<std::string> ids;
    Asked answer;
    bool over = false;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<Batch> next_;
  bool under_way_ = false;
};

}  // namespace radl::ec2

// OpenStack's services have no idempotency tokens. So each token's creation is requested once; a concurrent
// request with the same token waits and gets the same result.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::openstack {

class Creations {
 public:
  using Clock = std::chrono::steady_clock;

  // `create` sends the request; `find` looks up the token, for what an earlier request may have created. A
  // rejected request may be repeated. If a response was lost, looks for the resource, and repeats the request
  // only after the cloud has settled without showing it.
  Asked once(const std::string& token, std::chrono::milliseconds settles_after,
             const std::function<Asked()>& create,
             const std::function<Result<std::optional<std::string>>()>& find);
  // The resource of a token is being removed: a later request for the token creates a new one.
  void forget(const std::string& id);

 private:
  struct Entry {
    bool busy = false;
    std::optional<Asked> last;
    Clock::time_point settled_at{};
  };
  std::mutex mutex_;
  std::condition_variable done_;
  std::map<std::string, Entry> entries_;
};

}  // namespace radl::openstack

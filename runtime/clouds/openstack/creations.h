// OpenStack's services know no token by which a request is known again. So a request to make something is
// sent once for each token: another one with the same token waits for it, and gets what it got.
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

  // `create` asks; `find` looks by the token for what an earlier request may have made. A request that was
  // refused may be sent again; one whose answer was lost is looked for, and sent again only when the cloud
  // has settled and shows nothing.
  Asked once(const std::string& token, std::chrono::milliseconds settles_after,
             const std::function<Asked()>& create,
             const std::function<Result<std::optional<std::string>>()>& find);
  // What was made for the token is to go: a later request for it makes something anew.
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

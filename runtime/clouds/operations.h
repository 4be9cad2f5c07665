// For clouds that answer a change with an operation that completes later. Stores the operations started by
// this process, so that a look shows running ones as pending and failed ones as failed. Each cloud polls its
// operations in its own way.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "common/stop.h"
#include "runtime/clouds/cloud.h"

namespace radl {

enum class Effect { Makes, Changes, Removes };

struct Operation {
  std::string path;  // its ID or URL for polling: "zones/z/operations/operation-1"
  Effect effect = Effect::Makes;
  std::string type, infrastructure, address, token, place;  // place: what lacks room where it fails for that
  Status failed;                                            // if done
};

class Operations {
 public:
  using Clock = std::chrono::steady_clock;
  using Wanted = std::function<bool(const std::string& id, const Operation&)>;

  // `seconds`: time before the first poll.
  void began(const std::string& id, Operation operation, double seconds = 0);
  // Open operations that may be polled now: ID -> path.
  std::map<std::string, std::string> open(const Wanted& wanted) const;
  // For the operation started for this ID with this path; another may have started since.
  void not_before(const std::string& id, const std::string& path, double seconds);
  void done(const std::string& id, const std::string& path, Status failed);

  std::optional<Operation> pending(const std::string& id) const;
  std::optional<Operation> failed(const std::string& id) const;
  void forget_failure(const std::string& id);

  // For calls that must report a change's result (TakesOver): waits until this ID's operation has completed,
  // and returns its failure. `poll` queries the cloud. Cancelled, Timeout: it continues.
  Status finish(const std::string& id, const std::function<Status()>& poll, Pace pace, const Stop& stop);

  // State of an earlier change: in progress or failed; nullopt: neither.
  std::optional<Asked> earlier_change(const std::string& id);
  // Quota, with the message, if a place ("TYPE in ZONE") recently had no capacity. Ok: nothing known.
  Status room_in(const std::string& place) const;
  // Completes lists with operations: phases, resources not yet listed, failures with their reason.
  void add_to(const Context& context, const Query& query, std::map<std::string, Seen>& found) const;

 private:
  std::map<std::string, Operation> all(bool failed) const;

  mutable std::mutex mutex_;
  std::map<std::string, Operation> pending_, failed_;
  std::map<std::string, Clock::time_point> not_before_;
  std::map<std::string, std::pair<Clock::time_point, Status>> full_;
};

// True if a query covers what an operation creates or changes.
bool is_wanted(const Context& context, const Query& query, const std::string& id, const Operation& one);

}  // namespace radl

// For clouds that answer a request to change something with an operation that is done some time later. What
// this process has begun is kept here, so that a look shows it as pending, and what failed as failed. Each
// cloud asks how its operations stand in its own way.
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
  std::string path;  // by which it is asked for: "zones/z/operations/operation-1", a URL
  Effect effect = Effect::Makes;
  std::string type, infrastructure, address, token, place;  // place: what lacks room where it fails for that
  Status failed;                                            // of what is done
};

class Operations {
 public:
  using Clock = std::chrono::steady_clock;
  using Wanted = std::function<bool(const std::string& id, const Operation&)>;

  // `seconds`: nobody asks for it before.
  void began(const std::string& id, Operation operation, double seconds = 0);
  // Those that are open and may be asked for now: id -> path.
  std::map<std::string, std::string> open(const Wanted& wanted) const;
  // Of the one that was begun for this id by this path; another one may have begun meanwhile.
  void not_before(const std::string& id, const std::string& path, double seconds);
  void done(const std::string& id, const std::string& path, Status failed);

  std::optional<Operation> pending(const std::string& id) const;
  std::optional<Operation> failed(const std::string& id) const;
  void forget_failure(const std::string& id);

  // For calls that answer for what they change (TakesOver): returns once the operation of this id is over,
  // with its failure. `poll` asks the cloud how it stands. Cancelled, Timeout: it goes on.
  Status finish(const std::string& id, const std::function<Status()>& poll, Pace pace, const Stop& stop);

  // Of a change that was asked for before: it is being done, or has failed; nullopt: neither.
  std::optional<Asked> earlier_change(const std::string& id);
  // That a place ("TYPE in ZONE") had no room a moment ago, and what was said: Quota. Ok: nothing is known.
  Status room_in(const std::string& place) const;
  // What operations add to what lists show: phases, what is not in any list yet, what failed and why.
  void add_to(const Context& context, const Query& query, std::map<std::string, Seen>& found) const;

 private:
  std::map<std::string, Operation> all(bool failed) const;

  mutable std::mutex mutex_;
  std::map<std::string, Operation> pending_, failed_;
  std::map<std::string, Clock::time_point> not_before_;
  std::map<std::string, std::pair<Clock::time_point, Status>> full_;
};

// Whether a query is for what an operation makes or changes.
bool is_wanted(const Context& context, const Query& query, const std::string& id, const Operation& one);

}  // namespace radl

// Compute Engine answers a request to change something with an operation that is done some time later. What
// this process has begun is followed here, so that a look shows it as pending, and what failed as failed.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "runtime/clouds/cloud.h"

namespace radl::gce {

struct Asking;

enum class Effect { Makes, Changes, Removes };

struct Operation {
  std::string path;  // "zones/z/operations/operation-1"
  Effect effect = Effect::Makes;
  std::string type, infrastructure, address, token, place;  // place: what lacks room where it fails for that
  Status failed;                                            // of what is done
};

class Operations {
 public:
  using Clock = std::chrono::steady_clock;

  void began(const std::string& id, Operation operation);
  // Asks how those stand that `wanted` takes, in few calls.
  Status poll(Asking& call, const std::function<bool(const std::string& id, const Operation&)>& wanted);

  std::optional<Operation> pending(const std::string& id) const;
  std::optional<Operation> failed(const std::string& id) const;
  void forget_failure(const std::string& id);
  // Both kinds, by id.
  std::map<std::string, Operation> all(bool failed) const;

  // That a place ("TYPE in ZONE") had no room a moment ago, and what was said: Quota. Ok: nothing is known.
  Status room_in(const std::string& place) const;

 private:
  void done(const std::string& id, const std::string& path, const Json& operation);

  mutable std::mutex mutex_;
  std::map<std::string, Operation> pending_, failed_;
  std::map<std::string, std::pair<Clock::time_point, Status>> full_;
};

}  // namespace radl::gce

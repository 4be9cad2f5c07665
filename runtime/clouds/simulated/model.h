// The resources of a simulated account and their development over time. Requests and faults are in account.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/base/money.h"
#include "runtime/clouds/cloud.h"

namespace radl::simulated {

using Millis = int64_t;  // since 1970-01-01 UTC by the cloud's clock; 0: never

struct Resource {
  std::string id, type;
  std::string infrastructure, address, token;  // its tags, as far as present
  bool others = false;                         // created by another party, whatever its tags
  Json spec = Json::object(), attributes = Json::object();
  std::vector<std::string> uses;  // IDs that cannot be deleted before it
  Money price_per_hour;
  Millis created = 0;
  Millis ready = 0;        // pending until then
  Millis fails = 0;        // broken from then on
  Millis shown = 0;        // omitted from lists until then
  Millis notice = 0;       // from then on it announces its preemption
  Millis taken = 0;        // preempted then: stopped or deleted
  Millis taken_shown = 0;  // lists show the preemption from then on
  bool vanishes = false;
  bool stopped = false;
  Millis leaving = 0;  // its deletion has started
  Millis gone = 0;     // neither used nor billed from then on
  Millis hidden = 0;   // omitted from lists from then on; not before `gone`
  // Shown in lists until `stale_until`: the state before the last change.
  std::optional<Seen> stale;
  Millis stale_until = 0;

  bool exists(Millis now) const { return leaving == 0 || now < gone; }
};

Json to_json(const Resource& resource);
Resource resource_from_json(const Json& json);  // throws Json::exception

// The actual state, whether or not lists show it yet.
Seen seen_now(const Resource& resource, Millis now);
// The state in lists; nullopt: not listed.
std::optional<Seen> seen_in_lists(const Resource& resource, Millis now);

class Model {
 public:
  // Advances time: executes due preemptions and deletions. Call before every request.
  void pass(Millis now);
  Millis now() const { return now_; }

  std::string next_id(const std::string& type);
  // Adds a new resource, or stores a changed one.
  void put(Resource resource);
  // Finds it until lists hide it, even after deletion; nullptr: unknown.
  const Resource* find(const std::string& id) const;
  // knows_token(): true forever once used. with_token(): nullptr if deleted and hidden.
  bool knows_token(const std::string& infrastructure, const std::string& token) const;
  const Resource* with_token(const std::string& infrastructure, const std::string& token) const;
  const std::set<std::string>& ids_of(const std::string& infrastructure) const;
  const std::map<std::string, Resource>& resources() const { return resources_; }
  // IDs of existing resources that use it.
  const std::set<std::string>& users_of(const std::string& id) const;
  size_t machines() const { return machines_; }  // existing machines

  // Cost of past usage, by infrastructure.
  MoneySum billed(const std::string& infrastructure) const;

  // --- persistence ---
  // Returns one JSON value per change since the last call; recorded only after keep_changes().
  void keep_changes() { keeps_changes_ = true; }
  std::vector<Json> take_changes();
  std::vector<Json> everything() const;   // changes that build this model from an empty one
  void apply_change(const Json& change);  // throws Json::exception

 private:
  void take_back(Resource& resource);
  void release(const Resource& resource);
  void index(const Resource& resource);
  void unindex(const Resource& resource);
  void schedule(const Resource& resource);
  void unschedule(const std::string& id);
  void erase(const std::string& id);
  Json totals() const;

  Millis now_ = 0;
  uint64_t next_ = 1;
  size_t machines_ = 0;
  std::map<std::string, Resource> resources_;
  std::map<std::string, std::set<std::string>> by_infrastructure_, users_;
  std::unordered_map<std::string, std::string> by_token_;  // infrastructure and token -> id
  std::set<std::string> released_;                         // deleted, but not hidden yet
  std::set<std::pair<Millis, std::string>> due_;           // next events: time and resource
  std::unordered_map<std::string, Millis> due_of_;
  std::map<std::string, MoneySum> closed_;  // cost of deleted resources

  bool keeps_changes_ = false;
  std::set<std::string> touched_;
};

}  // namespace radl::simulated

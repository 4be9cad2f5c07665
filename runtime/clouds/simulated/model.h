// What exists in a simulated account, and what time does to it. Knows no requests and no faults: account.h.
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
  std::string infrastructure, address, token;  // its tags, as far as it has them
  bool others = false;                         // somebody else created it, whatever its tags say
  Json spec = Json::object(), attributes = Json::object();
  std::vector<std::string> uses;  // ids of what cannot go before it
  Money price_per_hour;
  Millis created = 0;
  Millis ready = 0;        // pending until then
  Millis fails = 0;        // broken from then on
  Millis shown = 0;        // left out of lists until then
  Millis notice = 0;       // from then on it says that it will be taken back
  Millis taken = 0;        // then it is: stopped, or gone
  Millis taken_shown = 0;  // and from then on lists show it
  bool vanishes = false;
  bool stopped = false;
  Millis leaving = 0;  // it is being destroyed
  Millis gone = 0;     // neither used nor paid for any more
  Millis hidden = 0;   // left out of lists from then on; not before it is gone
  // What lists show of it until `stale_until`: how it was before the last change.
  std::optional<Seen> stale;
  Millis stale_until = 0;

  bool exists(Millis now) const { return leaving == 0 || now < gone; }
};

Json to_json(const Resource& resource);
Resource resource_from_json(const Json& json);  // throws Json::exception

// How it is, whether lists show it already or not.
Seen seen_now(const Resource& resource, Millis now);
// How lists show it; nullopt: they do not.
std::optional<Seen> seen_in_lists(const Resource& resource, Millis now);

class Model {
 public:
  // Lets time pass: what was to be taken back is, what was being destroyed is gone. Before every request.
  void pass(Millis now);
  Millis now() const { return now_; }

  std::string next_id(const std::string& type);
  // Puts a new resource, or puts back one that was changed.
  void put(Resource resource);
  // Until lists hide it, also when it is gone; nullptr: unknown.
  const Resource* find(const std::string& id) const;
  // The resource that a token stands for, for ever; nullptr where it is gone and hidden.
  bool knows_token(const std::string& infrastructure, const std::string& token) const;
  const Resource* with_token(const std::string& infrastructure, const std::string& token) const;
  const std::set<std::string>& ids_of(const std::string& infrastructure) const;
  const std::map<std::string, Resource>& resources() const { return resources_; }
  // Ids of those that exist and use it.
  const std::set<std::string>& users_of(const std::string& id) const;
  size_t machines() const { return machines_; }  // that exist

  // For what existed so long, by infrastructure.
  MoneySum billed(const std::string& infrastructure) const;

  // --- keeping it ---
  // One JSON value a change since the last call; made only after keep_changes().
  void keep_changes() { keeps_changes_ = true; }
  std::vector<Json> take_changes();
  std::vector<Json> everything() const;   // the changes that make this model from an empty one
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
  std::set<std::string> released_;                         // gone, but not hidden yet
  std::set<std::pair<Millis, std::string>> due_;           // when time does something next, and to what
  std::unordered_map<std::string, Millis> due_of_;
  std::map<std::string, MoneySum> closed_;  // what those have cost that are not here any more

  bool keeps_changes_ = false;
  std::set<std::string> touched_;
};

}  // namespace radl::simulated

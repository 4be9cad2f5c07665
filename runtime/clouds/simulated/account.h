// The rules of a simulated account: which requests it accepts or rejects, and their effects. Responds
// immediately and reliably; simulated_cloud.h adds latency and lost responses.
//
// Types: "key_pair", "network", "security_group", "address" (an elastic public one), "volume", "instance".
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/clouds/cloud.h"
#include "runtime/clouds/simulated/draws.h"
#include "runtime/clouds/simulated/faults.h"
#include "runtime/clouds/simulated/model.h"

namespace radl::simulated {

// Tags by which everything is found again.
inline constexpr const char* kInfrastructureTag = "radlc:infrastructure";
inline constexpr const char* kAddressTag = "radlc:address";
inline constexpr const char* kTokenTag = "radlc:token";

class Account {
 public:
  Account(std::string region, Faults faults, uint64_t seed);

  // Adds foreign resources as set by `foreign`; some use addresses that an infrastructure may use too.
  void settle_foreigners(Millis now);

  // --- requests at this time ---
  Asked create(const std::string& infrastructure, const Order& order, Millis now);
  Asked update(const Order& order, Millis now);
  Asked power(const Order& order, Power power, Millis now);
  Asked destroy(const Order& order, Millis now);
  // Replaces a resource's tags; none: removes them.
  Asked mark(const std::string& infrastructure, const Order& order, Millis now);
  // Simulates another party launching a machine with these tags. Returns its ID.
  std::string plant(const std::string& infrastructure, const std::string& address, const std::string& token,
                    Millis now);
  Json survey(Millis now);  // {"zones", "machines", "machine_limit" (null: none), "sold_out": ["TYPE/ZONE"]}

  Model& model() { return model_; }
  const Model& model() const { return model_; }
  Draws& draws() { return draws_; }
  const Faults& faults() const { return faults_; }
  void set_faults(const Faults& faults) { faults_ = faults; }
  bool was_destroyed(const std::string& id) const { return destroyed_.count(id) != 0; }  // on request
  // Number of requests that changed or destroyed resources not made by create().
  size_t foreign_touched() const { return foreign_touched_; }

  // --- persistence, as in Model ---
  std::vector<Json> take_changes();
  std::vector<Json> everything() const;
  void apply_change(const Json& change);

 private:
  Asked repeated(const std::string& infrastructure, const Order& order) const;
  // IDs of the order's references. An error explains why one cannot be used.
  Result<std::vector<std::string>> resolve(const Order& order, const std::string& user) const;
  Status check_machine(const Order& order);
  Status check_limit();
  Status check_capacity(const Order& order);
  void describe(Resource& resource, const Order& order) const;
  void draw_fate(Resource& resource);
  Millis drawn_delay();
  Millis drawn_time(double seconds);
  // Lists keep showing `before` for a while.
  void show_late(Resource& resource, const Resource& before);
  Json totals() const;

  std::string region_;
  Faults faults_;
  Draws draws_;
  Model model_;
  Millis limited_until_ = 0;                // no further machine until then
  std::map<std::string, Millis> sold_out_;  // "TYPE/ZONE" -> until
  size_t foreign_touched_ = 0;
  std::set<std::string> destroyed_;
  std::vector<std::string> newly_destroyed_;  // since take_changes()
};

}  // namespace radl::simulated

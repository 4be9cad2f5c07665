// Predicts action durations from those of earlier runs. Pure.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "runtime/plan/plan.h"

namespace radl {

class MeasureKeys {
 public:
  explicit MeasureKeys(const Plan& plan);  // which must outlive this object
  // Returns the key under which the action's duration is stored. Equal work on the same cloud and machine
  // type has the same key in every infrastructure. Empty if durations of this action are not recorded.
  // A program's key covers its content, arguments, environment and number of nodes.
  //   "create ec2:1234/eu-west-1 instance m5.large", "native tools on ec2:1234/eu-west-1 m5.large"
  std::string of(const Action& action) const;

 private:
  std::string_view machine_of(const std::string& node) const;
  std::unordered_map<std::string_view, std::string_view> machines_;  // by address
};

// ResourceCost::machine without account and region: "ec2:1234/eu-west-1 m5.large" -> "ec2 m5.large".
std::string machine_kind(std::string_view machine);

// The key of a program with this identity (docs/ir.md) on this many nodes of this type.
std::string program_key(std::string_view identity, size_t nodes, std::string_view machine);

// The key for `count` concurrent actions. Concurrent actions share a host or a download source, so each takes
// longer than one alone.
std::string at_once_key(const std::string& key, size_t count);
// The key for the ratio of measured to usual time (Action::usual_seconds), shared by all steps of one kind on
// one machine type. Empty for jobs and created resources.
//   "native on local, of what is usual"
std::string kind_key(const Action& action, const std::string& key);

// The number of a plan's actions with each key.
std::map<std::string, size_t> counts_of(const Plan& plan, const MeasureKeys& keys);

// The best available measurement: same key and concurrency, then same key, then same kind (`like_it`).
struct MeasuredSeconds {
  double seconds = 0;
  bool like_it = false;
};
std::optional<MeasuredSeconds> measured_seconds(const Action& action, const std::string& key, size_t count,
                                                const std::map<std::string, double>& measured);

// The key for a job's overhead, from the key of its action: upload, start, and download of
// results.
std::string around_key(const std::string& key);
// Same for any job of its kind on such machines, for jobs that never ran there.
//   "around any training on local"
std::string around_any_key(const Action& action, const std::string& key);

// IDs of steps that copy datasets to nodes: their duration depends on the dataset's size.
std::set<std::string> staging_steps(const ir::Program& program);

// Seconds until every created resource exists, taking dependencies into account.
double create_seconds(const Plan& plan, const std::function<double(const Action&)>& seconds);

// Replaces predicted durations with measured ones (seconds by key) where available.
void use_measured(Plan& plan, const std::map<std::string, double>& measured);

}  // namespace radl

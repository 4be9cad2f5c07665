// What earlier runs took, by kind of work, for the predictions of the next plan. Pure.
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
  explicit MeasureKeys(const Plan& plan);  // which outlives it
  // The kind of work that an action of the plan is: the same thing made in the same cloud on the same kind of
  // machine has the same key, whatever infrastructure it is of. Empty: nothing is learnt of it.
  // A program is its content, arguments and environment, and on how many nodes it runs.
  //   "create ec2:1234/eu-west-1 instance m5.large", "native tools on ec2:1234/eu-west-1 m5.large"
  std::string of(const Action& action) const;

 private:
  std::string_view machine_of(const std::string& node) const;
  std::unordered_map<std::string_view, std::string_view> machines_;  // by address
};

// ResourceCost::machine without account and region: "ec2:1234/eu-west-1 m5.large" -> "ec2 m5.large".
std::string machine_kind(std::string_view machine);

// Of a program with this identity (docs/ir.md) on so many nodes of this kind.
std::string program_key(std::string_view identity, size_t nodes, std::string_view machine);

// With how many of the same key go on side by side: four machines on one computer, or nodes that fetch from
// one place, take longer each than one does.
std::string at_once_key(const std::string& key, size_t count);
// Of steps of this kind on such machines, whatever they are: what they took beside what is usual
// (Action::usual_seconds). Empty: of jobs and of what is made nothing is learnt so.
//   "native on local, of what is usual"
std::string kind_key(const Action& action, const std::string& key);

// How many actions of a plan have each key.
std::map<std::string, size_t> counts_of(const Plan& plan, const MeasureKeys& keys);

// What is known of an action: of as many at once, of its key, or by others of its kind (`like_it`).
struct MeasuredSeconds {
  double seconds = 0;
  bool like_it = false;
};
std::optional<MeasuredSeconds> measured_seconds(const Action& action, const std::string& key, size_t count,
                                                const std::map<std::string, double>& measured);

// What a job takes beside its own time, with the key of its action: sent to the nodes, begun, its results
// brought back.
std::string around_key(const std::string& key);
// The same of any job of its kind on such machines, for one that never ran there.
//   "around any training on local"
std::string around_any_key(const Action& action, const std::string& key);

// Ids of the steps that bring datasets to nodes: how long one takes is by how large its dataset is.
std::set<std::string> staging_steps(const ir::Program& program);

// Until all that a plan makes is there: resources wait for those that they need.
double create_seconds(const Plan& plan, const std::function<double(const Action&)>& seconds);

// Predicts with what was measured (seconds by key) where it is known.
void use_measured(Plan& plan, const std::map<std::string, double>& measured);

}  // namespace radl

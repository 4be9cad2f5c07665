// What earlier runs took, by kind of work, for the predictions of the next plan. Pure.
#pragma once

#include <map>
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
  //   "create ec2:1234/eu-west-1 instance m5.large", "native tools on ec2:1234/eu-west-1 m5.large"
  std::string of(const Action& action) const;

 private:
  std::string_view machine_of(const std::string& node) const;
  std::unordered_map<std::string_view, std::string_view> machines_;  // by address
};

// What a job takes beside its own time, with the key of its action: sent to the nodes, begun, its results
// brought back.
std::string around_key(const std::string& key);

// Predicts with what was measured (seconds by key) where it is known.
void use_measured(Plan& plan, const std::map<std::string, double>& measured);

}  // namespace radl

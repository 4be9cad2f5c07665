// Behavior and faults of a simulated cloud, by the names that `radlc test --faults` accepts.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::simulated {

// The defaults: a cloud that responds immediately, is consistent, and never fails.
struct Faults {
  // Behavior.
  double latency = 0;         // average seconds of a call; drawn from half to one and a half times that
  double boot = 0;            // seconds until a machine runs, drawn likewise; other types take a tenth
  double shutdown = 0;        // seconds until a destroyed machine is gone, drawn likewise
  double consistency = 0;     // maximum seconds until look() shows a creation, change or removal
  double page_size = 100;     // resources per page of a list
  double foreign = 0;         // resources of others in the account from the start
  double instance_limit = 0;  // limit on machines of the account; 0: none
  double jitter = 1;          // 0: times are exact instead of drawn
  double tags = 0;            // 1: if a request has two tags of one name, the file's wins over radlc's
  double in_use = 1;          // 1: a resource in use cannot be destroyed before its user is gone

  // Faults: the probability for one call, or for one created resource.
  double throttling = 0;   // the call is rejected: retry later
  double errors = 0;       // a cloud error; the request may or may not have been executed
  double lost_before = 0;  // the connection breaks before execution
  double lost_after = 0;   // the connection breaks after execution
  double quota = 0;        // the account's machine limit is reached for some minutes
  double capacity = 0;     // one instance type is sold out in one zone for some minutes
  double broken = 0;       // creation fails and leaves a broken resource
  double preemption = 0;   // a machine is preempted with notice: stopped or deleted
  // Faults on machines, implemented by the simulation of nodes (runtime/trial).
  double login = 0;  // a login fails, while the machine boots or later
  double steps = 0;  // a step fails, or its connection breaks

  bool operator==(const Faults&) const = default;
};

struct FaultInfo {
  enum class Unit { Seconds, Count, Switch, Chance };
  std::string_view name;
  double Faults::*value;
  double when_on;  // value if only the name is given
  Unit unit;
  std::string_view text;  // description
};
std::span<const FaultInfo> fault_table();  // in the order of Faults

// Parses "all", "none", or names with optional values: "consistency,latency=0.5,throttling=0.2", applied to
// `base`. Invalid: an unknown name (with the nearest one), or an invalid value.
Result<Faults> parse_faults(std::string_view text, Faults base = {});
// The text for which parse_faults() returns exactly these; "none" for Faults{}.
std::string faults_text(const Faults& faults);

}  // namespace radl::simulated

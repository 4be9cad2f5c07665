// How a simulated cloud behaves and what goes wrong in it: each by the name that `radlc test --faults` takes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/status.h"

namespace radl::simulated {

// All as it is here: a cloud that answers at once, shows at once what it made, and fails in nothing.
struct Faults {
  // How it behaves.
  double latency = 0;         // seconds of one call on average; drawn from half of it to one and a half
  double boot = 0;            // seconds until a machine runs, drawn likewise; others take a tenth
  double shutdown = 0;        // seconds until a machine that is destroyed is gone, drawn likewise
  double consistency = 0;     // seconds at most until look() shows what was made, changed or destroyed
  double page_size = 100;     // resources on one page of a list
  double foreign = 0;         // resources of others in the account, there from the beginning
  double instance_limit = 0;  // machines that the account may have; 0: any number
  double jitter = 1;          // 0: times are just as they are given, and nothing is drawn around them
  double tags = 0;            // 1: of two tags of one name in a request, the file's counts and not radlc's
  double in_use = 1;          // 1: what another resource uses cannot be destroyed before that one is gone

  // What goes wrong: the chance that it happens to one call, or to one resource that is made.
  double throttling = 0;   // the call is refused: ask again later
  double errors = 0;       // an error of the cloud's own; what was asked for is done or not
  double lost_before = 0;  // the connection breaks before the work is done
  double lost_after = 0;   // the connection breaks after it was done
  double quota = 0;        // the account's limit of machines is reached for some minutes
  double capacity = 0;     // one instance type is sold out in one zone for some minutes
  double broken = 0;       // what is being made fails and stays there, broken
  double preemption = 0;   // a machine is taken back, with notice: stopped, or gone
  // The same on its machines: whoever plays them (runtime/trial) keeps to these.
  double login = 0;  // a login fails, while the machine boots or later
  double steps = 0;  // a step fails, or its connection breaks

  bool operator==(const Faults&) const = default;
};

struct FaultInfo {
  enum class Unit { Seconds, Count, Switch, Chance };
  std::string_view name;
  double Faults::*value;
  double when_on;  // what the name alone stands for
  Unit unit;
  std::string_view text;  // for people
};
std::span<const FaultInfo> fault_table();  // in the order of Faults

// "all", "none", or names, perhaps with values: "consistency,latency=0.5,throttling=0.2". Laid over `base`.
// Invalid: a name that is not in the table (with the nearest one), or a value that it cannot have.
Result<Faults> parse_faults(std::string_view text, Faults base = {});
// What parse_faults() takes to give exactly these; "none" for Faults{}.
std::string faults_text(const Faults& faults);

}  // namespace radl::simulated

// The result of a refresh (exec/refresh.h), an input of the plan.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/change.h"

namespace radl {

// An unplanned difference between the last apply and the actual state, independent of the current
// file.
struct Drift {
  std::string address;  // of a resource or a step
  std::string what;     // "gone", "stopped", "unreachable" (it runs, but logins fail), "changed", "broken"
                        // (it exists but will not become ready)
  std::vector<Change> changes;
  std::string detail;
};

struct Observed {
  std::vector<Drift> resources;                      // by address
  std::map<std::string, nlohmann::json> attributes;  // of existing nodes: current values
  // For every existing resource: the current values of the spec fields that its cloud can observe.
  std::map<std::string, nlohmann::json> specs;
  // For every resource whose radlc tags were changed or removed: each such tag, with its current value as
  // `before` (null: removed) and radlc's as `after`.
  std::map<std::string, std::vector<Change>> marks;
  std::map<std::string, std::vector<Change>>
      steps;  // step ID -> differences from its last apply; may be empty
  // Job step ID -> nodes on which its processes run; only for jobs whose nodes all responded.
  std::map<std::string, std::vector<std::string>> running;
  std::map<std::string, std::string> unknown;  // step or node -> why it could not be inspected
};

}  // namespace radl

// What a look at the world found (exec/refresh.h), as an argument of the plan.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/base/change.h"

namespace radl {

// A difference between what was applied last and the world, that nobody planned. What the file asks for now
// plays no part in it.
struct Drift {
  std::string address;  // of a resource or a step
  std::string what;     // "gone", "stopped", "unreachable" (it runs, but no login works), "changed",
                        // "broken" (it is there and will not become ready)
  std::vector<Change> changes;
  std::string detail;
};

struct Observed {
  std::vector<Drift> resources;                      // by address
  std::map<std::string, nlohmann::json> attributes;  // of nodes that are there: as they are now
  // Of every resource that is there: the part of its spec that its cloud can observe, as it is now.
  std::map<std::string, nlohmann::json> specs;
  // Of every resource whose tags of radlc's own were changed or removed: each such tag, `before` as it is now
  // (null: removed), `after` as radlc writes it.
  std::map<std::string, std::vector<Change>> marks;
  std::map<std::string, std::vector<Change>>
      steps;  // step id -> what differs from what it applied last; empty: nothing does
  // Job step id -> nodes where processes of it run now; of jobs whose nodes could all be asked.
  std::map<std::string, std::vector<std::string>> running;
  std::map<std::string, std::string> unknown;  // step or node -> why it could not be looked at
};

}  // namespace radl

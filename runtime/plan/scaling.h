// Systems that grow and shrink while they run: which nodes one has after `radlc scale`, what the file says of
// it (resource `elastic`), and what happens before a node goes. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

// Where a node is asked for others unless `directory` says otherwise; the resource has a folder there.
inline constexpr const char* kElasticFolder = "~/.radl/elastic";

// A resource `elastic` of the program (compiler/resources/resource_table.h), on the node that it stands on.
struct ElasticRules {
  std::string name;    // "workers"
  std::string system;  // that grows and shrinks
  std::string node;    // address
  std::string step;    // id of the step that it is a resource of
  int min = 0;
  std::optional<int> max;
  double idle_seconds = 300;
  std::string directory;  // on the node: where it is asked for nodes
  // Command on the node that prints how many nodes are wanted, with its unknown values and secrets
  // (compiler/ir/ir.h); null: none.
  Json wanted;
  bool drains = false;  // there is a command on the node before others go
  double drain_seconds = 600;
};
std::vector<ElasticRules> elastic_rules(const ir::Program& program);
// Invalid: a bound, the system or the folder is known only after apply. Names it.
Status check_elastic(const ir::Program& program);

struct ScaleWish {
  std::optional<int> count;  // how many nodes; absent: as many as are left without `without`
  std::vector<int> without;  // ordinals that go before others
};
// The ordinals after it, ascending: new ones are the smallest that are free, and what goes is the last, after
// those that are named. Invalid: a named node that is not there, or that would have to stay.
Result<std::vector<int>> chosen_nodes(const std::string& system, const std::vector<int>& now,
                                      const ScaleWish& wish);
// Invalid: fewer or more nodes than the system's `elastic` allows.
Status check_bounds(const std::vector<ElasticRules>& rules, const std::string& system, size_t count);

// What was chosen, as far as the file's own numbers are still those that it was chosen of.
Scalings still_chosen(const Scalings& scaled, const std::map<std::string, int>& deployed);

}  // namespace radl

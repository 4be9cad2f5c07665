// Systems that grow and shrink at run time: their nodes after `radlc scale`, their rules in the file
// (resource `elastic`), and the actions before a node is removed. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "compiler/ir/ir.h"
#include "runtime/state/snapshot.h"

namespace radl {

// Default of `directory`: where nodes are requested. Each resource has a subfolder.
inline constexpr const char* kElasticFolder = "~/.radl/elastic";

// A resource `elastic` of the program (compiler/resources/resource_table.h), on the node that has it.
struct ElasticRules {
  std::string name;    // "workers"
  std::string system;  // the system that grows and shrinks
  std::string node;    // address
  std::string step;    // ID of the step with this resource
  int min = 0;
  std::optional<int> max;
  double idle_seconds = 300;
  std::string directory;  // on the node: where nodes are requested
  // Command on the node that prints the wanted number of nodes, with its unknown values and secrets
  // (compiler/ir/ir.h); null: none.
  Json wanted;
  bool drains = false;  // the node has a command to run before others are removed
  double drain_seconds = 600;
};
std::vector<ElasticRules> elastic_rules(const ir::Program& program);
// Invalid: a bound, the system or the folder is known only after apply; names it.
Status check_elastic(const ir::Program& program);

struct ScaleWish {
  std::optional<int> count;  // number of nodes; nullopt: as many as remain without `without`
  std::vector<int> without;  // ordinals to remove first
};
// The resulting ordinals, ascending: adds the smallest free ones; removes the named ones first, then from the
// end. Invalid: a named node does not exist or must stay.
Result<std::vector<int>> chosen_nodes(const std::string& system, const std::vector<int>& now,
                                      const ScaleWish& wish);
// Invalid: outside of the limits of the system's `elastic`.
Status check_bounds(const std::vector<ElasticRules>& rules, const std::string& system, size_t count);

// The choices that are still valid: those made for the file's current node counts.
Scalings still_chosen(const Scalings& scaled, const std::map<std::string, int>& deployed);

}  // namespace radl

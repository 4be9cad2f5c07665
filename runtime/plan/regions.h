// Chooses the region of nodes that name several, and keeps the others as fallbacks if an apply finds no
// capacity.
//
// `availability_zone` may list zones and regions in the order of attempts, and so may the URLs of
// disk.0.image.url. Zones of one region are handled by the cloud; each region is a cloud of its own
// (CloudId). Nodes that name the same regions stay together, because their networks do not span regions.
// Pure, offline.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

// Clouds (CloudId::text()) without capacity for a node: address -> clouds.
using NoRoom = std::map<std::string, std::set<std::string>>;

struct Placement {
  // The program with each such node in its chosen region; empty if no node names several.
  std::optional<ir::Program> program;
  // Node -> the remaining clouds, with the node as it would be there.
  std::map<std::string, std::vector<ir::Node>> left;
  std::vector<std::string> notes;  // without duplicates

  const ir::Program& of(const ir::Program& written) const { return program ? *program : written; }
};

// Existing nodes of a region stay there unless it lacks capacity; otherwise the first region with capacity is
// chosen. Regions that cannot provide a node at all are skipped with a note. If none remains, keeps the
// first.
Placement place_nodes(const ir::Program& program, const Snapshot& snapshot, const CloudSet& clouds,
                      const Catalog& catalog, const NoRoom& no_room);

// Adds candidates of the remaining regions, named "t3.micro in eu-west-1". `input`: the plan's
// input.
void add_candidates_left(const PlanInput& input, const Placement& placement, Plan& plan);

// What to do about creations that failed because their region lacked capacity (Code::Quota).
struct RoomSought {
  bool elsewhere = false;  // another plan with `no_room` may work
  NoRoom no_room;
  std::vector<std::string> why;  // one line each: what moves, or why nothing does
};
// `failed`: node -> reason. Nodes that existed before `since` (wall-clock seconds) never move, nor do nodes
// that share their regions.
RoomSought room_elsewhere(const Placement& placement, const Snapshot& now, const Plan& plan, NoRoom no_room,
                          const std::map<std::string, std::string>& failed, double since);

}  // namespace radl

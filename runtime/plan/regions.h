// Nodes that name more than one region: in which of them a plan puts them, and which are left for an apply
// that finds no room.
//
// `availability_zone` may name zones and regions in the order in which they are tried, as may the URLs of
// disk.0.image.url. Zones of one region are the cloud's own affair; each region is a cloud of its own
// (CloudId). Nodes that name the same regions stay together, since no network of theirs reaches from one into
// another. Pure, offline.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

// Clouds (CloudId::text()) that had no room for a node: address -> clouds.
using NoRoom = std::map<std::string, std::set<std::string>>;

struct Placement {
  // The program with every such node in the one region that it gets; empty: no node names more than one.
  std::optional<ir::Program> program;
  // Node -> the clouds that come after its own, with the node as it would be there.
  std::map<std::string, std::vector<ir::Node>> left;
  std::vector<std::string> notes;  // each once

  const ir::Program& of(const ir::Program& written) const { return program ? *program : written; }
};

// Where the nodes of a region already are they stay, unless it is among those that had no room; else the
// first that there is room in. A region in which such a node cannot be had at all is left out, and a note
// says why. When none is left the first is kept.
Placement place_nodes(const ir::Program& program, const Snapshot& snapshot, const CloudSet& clouds,
                      const Catalog& catalog, const NoRoom& no_room);

// `input`: what the plan was made of. Beside its own candidates those of the regions that are left, named
// "t3.micro in eu-west-1".
void add_candidates_left(const PlanInput& input, const Placement& placement, Plan& plan);

// What came of a plan's creations that failed because their region had no room (Code::Quota).
struct RoomSought {
  bool elsewhere = false;  // another plan with `no_room` may do
  NoRoom no_room;
  std::vector<std::string> why;  // a line each: what moves, or why nothing does
};
// `failed`: node -> why. Nodes that were there before `since` (wall seconds) are never moved, nor is what
// shares their regions.
RoomSought room_elsewhere(const Placement& placement, const Snapshot& now, const Plan& plan, NoRoom no_room,
                          const std::map<std::string, std::string>& failed, double since);

}  // namespace radl

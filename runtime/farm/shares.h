// How farms share nodes: whose turn it is when a node has room.
//
// Pure and deterministic. Users come first, then the farms of a user: by dominant share, the largest part
// that their running tasks have of any one resource of all nodes (Ghodsi et al., NSDI 2011). A farm's share
// counts as divided by its weight. What nobody else can use, anybody may use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/farm/packing.h"

namespace radl::farm {

// What a farm tells the others.
struct Claim {
  std::string farm, user;
  double weight = 1;
  std::map<std::string, Resources> nodes;  // that it may use: all that each has
  std::map<std::string, Resources> uses;   // by node: of its running tasks
  std::vector<Resources> wants;            // needs of its waiting tasks, each kind once
  double waits_since = 0;  // since when it has had waiting tasks and has started none; 0: it has none
};

class Shares {
 public:
  // A farm that has waited for longer than `reserve_after` gets its turn although it has no room yet.
  Shares(std::vector<Claim> claims, double now, double reserve_after)
      : claims_(std::move(claims)), now_(now), reserve_after_(reserve_after) {}

  // What the running tasks of the other farms take of a node.
  Resources taken_by_others(const std::string& farm, const std::string& node) const;
  // The farm that goes first if `farm` has a task for the node; "" if it may start. One that `passes` names
  // does not count.
  std::string goes_first(const std::string& farm, const std::string& node,
                         const std::vector<std::string>& passes = {}) const;
  // The farm starts such a task.
  void take(const std::string& farm, const Resources& needs, const std::string& node);
  std::vector<Claim> others(const std::string& farm) const;
  double share_of_user(const std::string& user) const;
  double share_of_farm(const std::string& farm) const;  // divided by its weight

 private:
  const Claim* find(const std::string& farm) const;
  Resources all_nodes() const;
  Resources room_on(const std::string& node) const;
  bool is_behind(const Claim& one, const Claim& other) const;
  std::string reserved_for(const Claim& claim) const;

  std::vector<Claim> claims_;
  double now_, reserve_after_;
};

}  // namespace radl::farm

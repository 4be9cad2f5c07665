// How a move (`radlc state mv`, `moved` in a file) renames things in a state. Pure.
#pragma once

#include <set>
#include <string>

#include "runtime/state/change.h"

namespace radl {

// "worker" -> "trainer" renames worker[0], worker[1], ...; "worker[0]" -> "old[3]" only that one; "cifar" ->
// "data", a module instance, everything with that prefix. Resources of a single node move with it:
// "volume.worker[0].1".
class Renaming {
 public:
  // `nodes`: addresses of all existing nodes, and of those with open intents.
  Renaming(const state_change::Move& move, std::set<std::string> nodes)
      : from_(move.from), to_(move.to), with_recipe_(move.with_recipe), nodes_(std::move(nodes)) {}

  std::string address(const std::string& address) const;
  // "worker[0]/tools", "training/cifar.train".
  std::string step(const std::string& id) const;
  // The name of a sensitive value, which begins with its step, system or module.
  std::string secret(const std::string& name) const;

  // True if anything in it was renamed.
  bool apply(ResourceRecord& record) const;
  bool apply(StepRecord& record) const;

  // Invalid: an unsuitable new name. Except for nodes, the word before the dot must stay: "network.lan" stays
  // a network.
  Status check(const std::string& before, const ResourceRecord& moved) const;

 private:
  std::string member(const std::string& name) const;
  std::string recipe(const std::string& name) const;
  std::string input(const std::string& name) const;
  Json value(const Json& value) const;
  Json definition(const Json& before) const;

  std::string from_, to_;
  bool with_recipe_;
  std::set<std::string> nodes_;
};

// Addresses of all nodes in a state, and of those begun by an interrupted run.
std::set<std::string> node_addresses(const Snapshot& snapshot, const std::vector<Intent>& begun);

}  // namespace radl

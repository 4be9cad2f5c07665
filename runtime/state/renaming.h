// What a move (`radlc state mv`, `moved` of a file) makes of the names in a state. Pure.
#pragma once

#include <set>
#include <string>

#include "runtime/state/change.h"

namespace radl {

// "worker" -> "trainer" renames worker[0], worker[1], ...; "worker[0]" -> "old[3]" that one only; "cifar" ->
// "data", an instance of a module, all that bears its prefix. What was made for a node alone goes along:
// "volume.worker[0].1".
class Renaming {
 public:
  // `nodes`: the addresses of all nodes that are there, or begun.
  Renaming(const state_change::Move& move, std::set<std::string> nodes)
      : from_(move.from), to_(move.to), with_recipe_(move.with_recipe), nodes_(std::move(nodes)) {}

  std::string address(const std::string& address) const;
  // "worker[0]/tools", "training/cifar.train".
  std::string step(const std::string& id) const;
  // Of a sensitive value: it begins with the step, system or module that it belongs to.
  std::string secret(const std::string& name) const;

  // True when anything in it is called otherwise now.
  bool apply(ResourceRecord& record) const;
  bool apply(StepRecord& record) const;

  // Invalid: the new name is none for such a thing. Any but a node keeps the word before the point:
  // "network.lan" stays a network.
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

// The addresses of all nodes of a state, and of those that an interrupted run had begun.
std::set<std::string> node_addresses(const Snapshot& snapshot, const std::vector<Intent>& begun);

}  // namespace radl

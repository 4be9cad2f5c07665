// Instances of modules: the program is one, each `use` makes another. What an instance declares, by name.
//
// In: trees. Out: a tree of instances in which every `use` has been followed; names are not resolved yet.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/modules/library.h"

namespace radl {

struct Instance {
  std::string prefix;          // "" for the program, "cifar", "cluster.data"
  Instance* parent = nullptr;  // null for the program
  const ast::Use* use = nullptr;
  std::vector<const ast::Tree*> trees;  // one for a module; the files of the command line for the program
  int order = 0;                        // place in a walk that visits an instance before those that it uses

  using ByName = std::map<std::string_view, const ast::Block*>;
  ByName inputs, outputs, networks, systems, ansible, configures;
  std::vector<const ast::Deploy*> deploys;
  std::vector<const ast::Contextualize*> contextualize;
  std::vector<std::unique_ptr<Instance>> children;
  std::set<std::string_view>
      failed;  // names of `use` blocks that could not be followed: what names them stays silent

  const Instance* child(std::string_view name) const;
  // "worker" -> "cifar.worker"
  std::string full(std::string_view name) const;
};

inline constexpr size_t kMaxInstances = 2000;

// Never null; what is wrong is reported and left out.
std::unique_ptr<Instance> instantiate(const std::vector<const ast::Tree*>& trees, ModuleLibrary& library,
                                      Diagnostics& diagnostics);

// Calls for the instance and all below it, parents first.
template <class Visit>
void visit(Instance& instance, Visit&& each) {
  each(instance);
  for (auto& child : instance.children) visit(*child, each);
}
template <class Visit>
void visit(const Instance& instance, Visit&& each) {
  each(instance);
  for (const auto& child : instance.children) visit(static_cast<const Instance&>(*child), each);
}

}  // namespace radl

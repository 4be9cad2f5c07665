// Module instances: the program is one, each `use` creates another. An instance's declarations by name.
//
// In: trees. Out: a tree of instances with every `use` followed, `each` expanded and blocks excluded by
// `when` removed. Names are not resolved yet.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/eval/library.h"
#include "compiler/eval/value.h"

namespace radl {

struct Instance {
  std::string prefix;          // "" for the program, "cifar", "cluster.data"
  Instance* parent = nullptr;  // null for the program
  const ast::Use* use = nullptr;
  UsedFrom used_from;                   // for a module
  std::vector<const ast::Tree*> trees;  // one for a module; for the program, the files of the command line
  int order = 0;                        // position in a walk that visits an instance before the ones it uses

  // All declarations in source order; a block with `each` appears once per element.
  std::vector<const ast::Block*> blocks;
  using ByName = std::map<std::string_view, const ast::Block*>;
  ByName inputs, outputs, networks, systems, ansible, configures, lets;
  std::vector<const ast::Assert*> asserts;
  std::vector<const ast::Moved*> moves;
  std::vector<const ast::Deploy*> deploys;
  std::vector<const ast::Contextualize*> contextualize;
  std::vector<std::unique_ptr<Instance>> children;
  std::set<std::string_view>
      failed;  // names of `use` blocks that could not be followed; references to them are not reported

  // Names of `use` and `output` blocks that their `when` excludes; false if their `when` is invalid, which
  // has been reported.
  std::map<std::pair<ast::Kind, std::string_view>, bool> left_out;

  // Active while the instance's blocks are expanded, for values that decide which blocks exist.
  class Pending {
   public:
    virtual ~Pending() = default;
    // Expands every block that may declare the name ("" means all names of the kind). Returns false if such a
    // block waits for the value that is being computed.
    virtual bool bring(ast::Kind kind, std::string_view name) = 0;
  };
  Pending* pending = nullptr;  // null when expansion has finished

  // Nodes and values created by the expansion of `each`.
  struct Made {
    Arena arena;
    std::deque<expr::Value> values;
  };
  std::unique_ptr<Made> made;

  const Instance* child(std::string_view name) const;
  // "worker" -> "cifar.worker"
  std::string full(std::string_view name) const;
  // True if an unparsable part of a file may declare `KEYWORD NAME`, so that references to it are not
  // reported. "" matches all keywords that declare a name.
  bool may_declare(std::string_view keyword, std::string_view name) const;
};

inline constexpr size_t kMaxInstances = 2000;

// The values that the expansion needs from the language (passes/modules.cc).
class Values {
 public:
  virtual ~Values() = default;
  // Makes the instance's inputs and `let`s known by name. Values may use them from now on.
  virtual void declare(const Instance& instance) = 0;
  // Returns Error after a report.
  virtual expr::Value value(const ast::Expr& expression, const Instance& instance) = 0;
  // The elements that `NAME in` iterates over, as (index or key, element); nullopt after a report.
  virtual std::optional<std::vector<std::pair<expr::Value, expr::Value>>> elements(const expr::Value& list,
                                                                                   Span at) = 0;
};

// Fills the program's instance, whose `trees` are set. Reports and omits invalid parts.
void instantiate(Instance& program, ModuleLibrary& library, Values& values, Diagnostics& diagnostics);

// Calls `each` for the instance and all below it, parents first.
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

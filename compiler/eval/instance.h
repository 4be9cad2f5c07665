// Instances of modules: the program is one, each `use` makes another. What an instance declares, by name.
//
// In: trees. Out: a tree of instances in which every `use` has been followed, `each` is written out and what
// `when` leaves out is gone; names are not resolved yet.
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
  UsedFrom used_from;                   // of a module
  std::vector<const ast::Tree*> trees;  // one for a module; the files of the command line for the program
  int order = 0;                        // place in a walk that visits an instance before those that it uses

  // All that is declared, in the order of the source: what `each` repeats once for each element.
  std::vector<const ast::Block*> blocks;
  using ByName = std::map<std::string_view, const ast::Block*>;
  ByName inputs, outputs, networks, systems, ansible, configures, lets;
  std::vector<const ast::Assert*> asserts;
  std::vector<const ast::Moved*> moves;
  std::vector<const ast::Deploy*> deploys;
  std::vector<const ast::Contextualize*> contextualize;
  std::vector<std::unique_ptr<Instance>> children;
  std::set<std::string_view>
      failed;  // names of `use` blocks that could not be followed: what names them stays silent

  // Names of `use` and `output` blocks that their `when` leaves out; false for one whose `when` is wrong,
  // which was reported.
  std::map<std::pair<ast::Kind, std::string_view>, bool> left_out;

  // While the instance's blocks are written out, for values that are needed to decide what there is.
  class Pending {
   public:
    virtual ~Pending() = default;
    // Expands every block that may declare the name ("" for all names of the kind). Returns false if such a
    // block waits for the value that is being computed.
    virtual bool bring(ast::Kind kind, std::string_view name) = 0;
  };
  Pending* pending = nullptr;  // null when all is written out

  // What the expansion of `each` made: nodes, and the values in them.
  struct Made {
    Arena arena;
    std::deque<expr::Value> values;
  };
  std::unique_ptr<Made> made;

  const Instance* child(std::string_view name) const;
  // "worker" -> "cifar.worker"
  std::string full(std::string_view name) const;
  // Whether `KEYWORD NAME` stands in a file of which a part could not be read: what names it stays silent. ""
  // stands for all that declare a name.
  bool may_declare(std::string_view keyword, std::string_view name) const;
};

inline constexpr size_t kMaxInstances = 2000;

// What the expansion asks of the language's values (passes/modules.cc).
class Values {
 public:
  virtual ~Values() = default;
  // The instance's inputs and `let` are known by name from here on: values may use them.
  virtual void declare(const Instance& instance) = 0;
  // Error after a report.
  virtual expr::Value value(const ast::Expr& expression, const Instance& instance) = 0;
  // What `NAME in` goes over, as (index or key, element); nullopt after a report.
  virtual std::optional<std::vector<std::pair<expr::Value, expr::Value>>> elements(const expr::Value& list,
                                                                                   Span at) = 0;
};

// Fills the program's instance, whose `trees` are set. What is wrong is reported and left out.
void instantiate(Instance& program, ModuleLibrary& library, Values& values, Diagnostics& diagnostics);

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

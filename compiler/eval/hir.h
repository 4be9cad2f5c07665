// A document after evaluation: values, not syntax.
//
// In: syntax trees; for `radl 2` also what names mean there (Scope). Out: a Document of systems, networks,
// items and deploys with full names, each feature with its operator, its value and the place that it was
// written at. RADL 1, EC3's dialect and `radl 2` all become this, and later stages (compiler/check,
// compiler/passes) read nothing else of a feature. Native recipes stay with their configure: they are
// evaluated once for each node.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/feature_value.h"

namespace radl::expr {
class Value;
}

namespace radl::hir {

// A list of records that stands for numbered features (records.h).
enum class Records : uint8_t { None, Disks, Networks };

struct Feature {
  std::string_view name;
  Span name_span, span, op_span;
  ast::Op op{};         // None before a group
  bool strict = false;  // of radl 2: what nothing reads is an error
  Value value;
  Records records = Records::None;  // the list that it was written in
  uint16_t unwritten = 0;           // bytes of `name` that do not stand at name_span: "disk.1." of a record
  uint16_t layer = 0;               // of two layers in one file, the higher one overrides (`with`)
  const ast::Feature* written = nullptr;  // what it was read from
};

struct Soft {
  Value weight;  // a number; Error when it was none
  Span span;
  const Features* features = nullptr;
  const ast::Feature* written = nullptr;
};

// Both in the order of the source. What could not be read is not there.
struct Features {
  List<Feature> items;
  List<Soft> softs;
};

// A network, system, ansible host, description, or one of EC3's other blocks.
struct Block {
  ast::Name keyword, name;
  Span span;
  bool present = false;  // its features were written; else it is a reference
  Features features;
};

struct Configure {
  ast::Name keyword, name;
  Span span;
  const ast::Configure* written = nullptr;  // its recipe, or its resources, still to be evaluated
};

struct Deploy {
  ast::Name system, cloud;
  Span span;
  Value count;             // Error when there was none
  bool of_system = false;  // `count` in the system itself
};

struct Item {
  ast::Name system, configure, tool;
  Span span;
  const Number* step = nullptr;  // null: not written
  List<ast::Name> after;
};

struct Contextualize {
  Span span;
  ast::Name keyword;
  const ast::Number* max_time = nullptr;  // may be null
  std::vector<Item> items;
  std::vector<Feature> options;
};

// What one source file says, or all modules together. Each list is in the order of the source.
struct Part {
  const SourceFile* source = nullptr;
  ast::Dialect dialect = ast::Dialect::Radl1;
  bool broken = false;  // something in it could not be read
  std::vector<Block> networks, systems, ansibles, descriptions, generals;
  std::vector<Configure> configures;
  std::vector<Deploy> deploys;
  std::vector<Contextualize> contextualizes;
};

// The trees and, for `radl 2`, the arena own what it points to.
struct Document {
  std::vector<Part> parts;
  std::vector<Arena> arenas;
  std::set<std::string> bases;  // full names of the systems that others take over by `with`
};

// What the names of one instance of a module stand for. Whatever is wrong was reported when one of these
// returns nothing.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual expr::Value value(const ast::Expr& expression) = 0;
  // "worker" -> "cifar.worker"
  virtual std::string full(std::string_view name) = 0;
  virtual bool has_network(std::string_view name) = 0;
  virtual std::vector<std::string> systems_of(const ast::Deploy& deploy) = 0;
  virtual std::vector<std::string> systems_of(const ast::Item& item) = 0;
  virtual int64_t nodes_of(const ast::Deploy& deploy) = 0;
  virtual std::string cloud_of(const ast::Deploy& deploy) = 0;
  // The configure of this name; null when the instance has none.
  virtual const ast::Configure* configure(std::string_view name) = 0;
  // Whether it holds a training or a program: passes/steps.cc reads those from their instance.
  virtual bool is_job(const ast::Configure& configure) = 0;
  // What system_features() gives, computed once for each block.
  virtual const Features& features_of(const ast::FeatureBlock& system) = 0;
  // The features of a system of this full name, for `with` at that place; one for each of its blocks. Empty
  // after a report.
  virtual std::vector<const Features*> taken_over(const std::string& system, Span at) = 0;
};

// A tree without names to look up: RADL 1, EC3's dialect. Nothing can be wrong with it.
void lower(const ast::Tree& tree, Document& into);

// The blocks of one instance that stand in `file` (0: all of them), evaluated, added to the part.
void lower(const std::vector<const ast::Block*>& blocks, uint32_t file, Scope& scope, Arena& arena,
           Part& into, Diagnostics& diagnostics);

// The features of a system: those of the systems that `with` names, then its own in a layer above them.
Features system_features(const ast::FeatureBlock& system, Scope& scope, Arena& arena,
                         Diagnostics& diagnostics);

// As text for people, with secrets left out: `radlc compile --dump lower`. `hidden` says which features hold
// passwords and keys whatever their value is.
std::string dump(const Document& document, const SourceMap& sources,
                 bool (*hidden)(std::string_view feature));

}  // namespace radl::hir

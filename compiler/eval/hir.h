// A document after evaluation: values instead of syntax.
//
// In: syntax trees; for `radl 2` also the meaning of names (Scope). Out: a Document of systems,
// networks, items and deploys with full names; each feature has its operator, value and position. RADL
// 1, EC3's dialect and `radl 2` all become this form. Later stages (compiler/check, compiler/passes)
// read only this form of a feature. Native recipes stay with their configure: they are evaluated once
// per node.
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

// A list of records that defines numbered features (records.h).
enum class Records : uint8_t { None, Disks, Networks };

struct Feature {
  std::string_view name;
  Span name_span, span, op_span;
  ast::Op op{};         // None for a group
  bool strict = false;  // from radl 2: a feature that nothing reads is an error
  Value value;
  Records records = Records::None;        // the list that defined it
  uint16_t unwritten = 0;                 // bytes of `name` not written at name_span: "disk.1." of a record
  uint16_t layer = 0;                     // of two layers in a file, the higher overrides (`with`)
  const ast::Feature* written = nullptr;  // its syntax node
};

struct Soft {
  Value weight;  // a number; Error if it was not one
  Span span;
  const Features* features = nullptr;
  const ast::Feature* written = nullptr;
};

// Both lists in source order. Unparsable features are missing.
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
  Value count;             // Error if it was missing
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

// The content of one source file, or of all modules together. Each list is in source order.
struct Part {
  const SourceFile* source = nullptr;
  ast::Dialect dialect = ast::Dialect::Radl1;
  bool broken = false;  // part of it has syntax errors
  std::vector<Block> networks, systems, ansibles, descriptions, generals;
  std::vector<Configure> configures;
  std::vector<Deploy> deploys;
  std::vector<Contextualize> contextualizes;
};

// The trees and, for `radl 2`, the arena own the data.
struct Document {
  std::vector<Part> parts;
  std::vector<Arena> arenas;
  std::set<std::string> bases;  // full names of systems that others extend by `with`
};

// Resolves the names of one module instance. If a function returns nothing, it has reported the
// error.
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
  // The configure of this name; null if the instance has none.
  virtual const ast::Configure* configure(std::string_view name) = 0;
  // True if it holds a training or a program, which passes/steps.cc reads from the instance.
  virtual bool is_job(const ast::Configure& configure) = 0;
  // The result of system_features(), computed once per block.
  virtual const Features& features_of(const ast::FeatureBlock& system) = 0;
  // The features of the system of this full name, for a `with` at `at`; one entry per block of it. Empty
  // after a report.
  virtual std::vector<const Features*> taken_over(const std::string& system, Span at) = 0;
};

// Lowers a tree without references to resolve (RADL 1, EC3's dialect). Never fails.
void lower(const ast::Tree& tree, Document& into);

// Evaluates the blocks of one instance that were written in `file` (0: all), and adds them to the part.
void lower(const std::vector<const ast::Block*>& blocks, uint32_t file, Scope& scope, Arena& arena,
           Part& into, Diagnostics& diagnostics);

// The features of a system: those of the systems that `with` names, overridden by its own.
Features system_features(const ast::FeatureBlock& system, Scope& scope, Arena& arena,
                         Diagnostics& diagnostics);

// Readable text without secrets: `radlc compile --dump lower`. `hidden` returns true for features that hold
// passwords or keys whatever their value.
std::string dump(const Document& document, const SourceMap& sources,
                 bool (*hidden)(std::string_view feature));

}  // namespace radl::hir

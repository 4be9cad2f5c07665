// Expressions to values.
//
// In: a tree of the parser and what its names mean. Out: a value, Error when something was reported. Every
// evaluation costs: `Budget` bounds the work of a whole compilation, so that no source can make it run long
// or take much memory.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/diag/diagnostic.h"
#include "compiler/eval/value.h"
#include "compiler/syntax/ast.h"

namespace radl::expr {

struct Budget {
  size_t operations =
      20'000'000;  // about one for each node of a tree that is visited and each element that is made
  size_t bytes = size_t{256} << 20;  // of strings made
  bool spent = false;                // reported once
  int levels = 0;                    // of all expressions that are being evaluated, one inside another
};
inline constexpr int kMaxDepth = 300;  // of an expression
// Of all expressions that wait for each other. A level takes about 2 KB of stack without optimization,
// several times that with a sanitizer: all levels must fit into 8 MiB.
inline constexpr int kMaxLevels = 1'000;
inline constexpr size_t kMaxElements = 100'000;  // of one list

// What functions see of the world. Files that are read become sources of the program.
class World {
 public:
  virtual ~World() = default;
  virtual std::optional<std::string> variable(const std::string& name) = 0;
  // The infrastructure's own secret of this name, always the same; nullopt where there are none.
  virtual std::optional<std::string> generated(const std::string& /*name*/) { return std::nullopt; }
  // `path` as written; relative to the folder of the file that `at` is in.
  virtual Result<std::string> file(const std::string& path, Span at) = 0;
  // The same as a string with ${ }; an ErrorValue after a report of what is wrong in it.
  virtual Result<const ast::Expr*> text_template(const std::string& path, Span at) = 0;
};

// What the language asks about systems.
class Systems {
 public:
  virtual ~Systems() = default;
  // Number of nodes; nullopt (after a report) when it cannot be determined, for example because it depends on
  // itself.
  virtual std::optional<int64_t> count(const std::string& system, Span at) = 0;
  // The ordinals of its nodes, where they are not 0 .. count - 1; else null.
  virtual const std::vector<int>* ordinals(const std::string& /*system*/) { return nullptr; }
  // A member of a node: known ones (number, hostname) as values, others as unknown; nullopt: there is no such
  // one.
  virtual std::optional<Value> attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                         Span at) = 0;
  static const std::vector<std::string>& attributes();  // all names, for suggestions
};

struct Context {
  Diagnostics* diagnostics = nullptr;
  const Namespace* names = nullptr;  // the first part of a reference
  World* world = nullptr;            // null: env() and file() are errors
  Systems* systems = nullptr;
  Budget* budget = nullptr;
  const Binding* bindings = nullptr;  // stand before `names`
  int templates = 0;                  // files of template() that are being read, one inside another
  int depth = 0;                      // of the calls of declared functions around the expression
};

Value evaluate(const ast::Expr& expression, const Context& context);

// What `NAME in` goes over, as (index or key, element): a list, a map, the nodes of a system. nullopt after a
// report at `at`.
std::optional<std::vector<std::pair<Value, Value>>> elements(const Value& list, Span at,
                                                             const Context& context);

// The functions, for completion and documentation.
struct FunctionInfo {
  std::string_view name;
  std::string_view parameters;  // "list, separator"
  std::string_view doc;
  std::string_view example;  // "join(['a', 'b'], '-')  ->  'a-b'"
};
std::vector<FunctionInfo> functions();

}  // namespace radl::expr

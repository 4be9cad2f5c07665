// Evaluates expressions.
//
// In: a syntax tree and the meaning of its names. Out: a value, or Error after a report. `Budget`
// bounds the work of a whole compilation, so that no source can make it run long or use much
// memory.
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
      20'000'000;  // about one for each visited node of a tree and each element that is created
  size_t bytes = size_t{256} << 20;  // of created strings
  bool spent = false;                // reported once
  int levels = 0;                    // current nesting of expressions that wait for each other
};
inline constexpr int kMaxDepth = 300;  // of one expression
// Limit for nested evaluations. A level takes about 2 KB of stack without optimization and several times that
// with a sanitizer; all levels must fit into 8 MiB.
inline constexpr int kMaxLevels = 1'000;
inline constexpr size_t kMaxElements = 100'000;  // of one list

// What functions can access outside the program. Files that they read become sources of the program.
class World {
 public:
  virtual ~World() = default;
  virtual std::optional<std::string> variable(const std::string& name) = 0;
  // The infrastructure's own secret of this name, stable between runs; nullopt if it has none.
  virtual std::optional<std::string> generated(const std::string& /*name*/) { return std::nullopt; }
  // Reads a file. `path` is relative to the folder of the file that contains `at`.
  virtual Result<std::string> file(const std::string& path, Span at) = 0;
  // Same, parsed as a string with ${ }. Returns an ErrorValue after reporting errors in it.
  virtual Result<const ast::Expr*> text_template(const std::string& path, Span at) = 0;
};

// The language's queries about systems.
class Systems {
 public:
  virtual ~Systems() = default;
  // Number of nodes. nullopt after a report if it cannot be determined, for example because it depends on
  // itself.
  virtual std::optional<int64_t> count(const std::string& system, Span at) = 0;
  // The ordinals of the nodes if they are not 0 .. count - 1; else null.
  virtual const std::vector<int>* ordinals(const std::string& /*system*/) { return nullptr; }
  // A member of a node: known ones (number, hostname) as values, others as unknown. nullopt if there is no
  // such member.
  virtual std::optional<Value> attribute(const std::string& system, int64_t ordinal, std::string_view member,
                                         Span at) = 0;
  static const std::vector<std::string>& attributes();  // all names, for suggestions
};

struct Context {
  Diagnostics* diagnostics = nullptr;
  const Namespace* names = nullptr;  // resolves the first part of a reference
  World* world = nullptr;            // null: env() and file() are errors
  Systems* systems = nullptr;
  Budget* budget = nullptr;
  const Binding* bindings = nullptr;  // take precedence over `names`
  int templates = 0;                  // nesting of files read by template()
  int depth = 0;                      // nesting of calls to declared functions
};

Value evaluate(const ast::Expr& expression, const Context& context);

// The elements that `NAME in` iterates over, as (index or key, element): a list, a map or the nodes of a
// system. nullopt after a report at `at`.
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

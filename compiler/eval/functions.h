// The table of functions (functions.def). A function receives a checked number of arguments, none of them
// Error, and reports other errors itself.
#pragma once

#include <span>
#include <string>

#include "compiler/eval/evaluate.h"

namespace radl::expr {

// One call: its arguments, and how to report errors.
class CallFrame {
 public:
  CallFrame(const Context& context, const ast::Call& call, std::vector<Value> arguments)
      : context_(context), call_(call), arguments_(std::move(arguments)) {}

  size_t size() const { return arguments_.size(); }
  const Value& operator[](size_t i) const { return arguments_[i]; }
  const Context& context() const { return context_; }
  Span span() const { return call_.span; }
  Span span(size_t i) const { return call_.arguments[i]->span; }

  // Reports that argument i has the wrong kind. Returns Error.
  Value expected(size_t i, std::string_view what) const;
  Value fail(std::string message) const;
  // Charges the budget. Reports and returns false if it is exhausted or a list gets too long.
  bool charge(size_t elements, size_t bytes) const;

 private:
  const Context& context_;
  const ast::Call& call_;
  std::vector<Value> arguments_;
};

enum class Arguments : uint8_t { Known, Any, Held };  // functions.def

struct Function {
  FunctionInfo info;
  size_t least, most;  // number of arguments
  Arguments arguments;
  Value (*run)(const CallFrame&);
};
std::span<const Function> function_table();
const Function* find_function(std::string_view name);

// Charges the budget. Reports at `at` if it is exhausted.
bool charge(const Context& context, size_t operations, size_t bytes, Span at);

}  // namespace radl::expr

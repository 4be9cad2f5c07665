// Evaluates operators. Errors are reported and give an error value.
#pragma once

#include <string_view>

#include "compiler/eval/evaluate.h"

namespace radl::expr {

// Minus.
Value negative(const ast::Unary& unary, const Value& value, const Context& context);
// All but `and` and `or`, which may skip their right side. Ignores the operands' taint.
Value binary_operator(const ast::Binary& binary, const Value& left, const Value& right,
                      const Context& context);

Value wrong_operand(std::string_view op, const Value& value, Span at, const Context& context);
Value list_too_long(Span at, const Context& context);

}  // namespace radl::expr

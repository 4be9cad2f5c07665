#include "compiler/eval/operators.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compiler/eval/functions.h"
#include "compiler/eval/secret_access.h"
#include "compiler/eval/units.h"

namespace radl::expr {

namespace {

class Operators {
 public:
  explicit Operators(const Context& context) : context_(context) {}

  Value negative(const ast::Unary& unary, const Value& value) {
    if (value.kind() == Kind::Real) return Value::real(-value.as_real(kPermitted), value.unit()).taint(value);
    if (value.kind() != Kind::Integer) return wrong_operand("-", value, unary.operand->span, context_);
    if (value.as_integer(kPermitted) == std::numeric_limits<int64_t>::min()) return overflow(unary.span);
    return Value::integer(-value.as_integer(kPermitted), value.unit()).taint(value);
  }

  Value binary(const ast::Binary& binary, const Value& left, const Value& right) {
    using enum ast::BinaryOp;
    switch (binary.op) {
      case Eq:
        return Value::boolean(equal(left, right, kPermitted));
      case Ne:
        return Value::boolean(!equal(left, right, kPermitted));
      case Lt:
      case Le:
      case Gt:
      case Ge:
        return order_value(binary, left, right);
      default:
        return arithmetic(binary, left, right);
    }
  }

 private:
  Value report(DiagCode code, Span at, std::string message) {
    context_.diagnostics->report(code, at, std::move(message));
    return {};
  }

  Value order_value(const ast::Binary& binary, const Value& left, const Value& right) {
    int order;
    if (left.kind() == Kind::String && right.kind() == Kind::String) {
      order = left.as_text(kPermitted).compare(right.as_text(kPermitted));
    } else if (left.is_number() && right.is_number()) {
      auto common = common_unit(left.unit(), right.unit());
      if (!common) return unit_clash(binary, left, right);
      order = compare_numbers(left, common->left, right, common->right, kPermitted);
    } else {
      return operands_clash(binary, left, right);
    }
    switch (binary.op) {
      case ast::BinaryOp::Lt:
        return Value::boolean(order < 0);
      case ast::BinaryOp::Le:
        return Value::boolean(order <= 0);
      case ast::BinaryOp::Gt:
        return Value::boolean(order > 0);
      default:
        return Value::boolean(order >= 0);
    }
  }

  Value arithmetic(const ast::Binary& binary, const Value& left, const Value& right) {
    using enum ast::BinaryOp;
    if (binary.op == Add && left.kind() == Kind::List && right.kind() == Kind::List) {
      Items items = left.items();
      items.insert(items.end(), right.items().begin(), right.items().end());
      if (items.size() > kMaxElements || !charge(context_, items.size(), 0, binary.span))
        return list_too_long(binary.span, context_);
      return Value::list(std::move(items));
    }
    if (!left.is_number() || !right.is_number()) return operands_clash(binary, left, right);
    bool add = binary.op == Add || binary.op == Sub || binary.op == Mod;
    std::string unit;
    double scale_left = 1, scale_right = 1;
    if (add || (binary.op == Div && !left.unit().empty() && !right.unit().empty())) {
      auto common = common_unit(left.unit(), right.unit());
      if (!common) return unit_clash(binary, left, right);
      scale_left = common->left;
      scale_right = common->right;
      if (add) unit = common->unit;
    } else if (binary.op == Mul && !left.unit().empty() && !right.unit().empty()) {
      return unit_clash(binary, left, right);
    } else if (binary.op == Div && left.unit().empty() && !right.unit().empty()) {
      return unit_clash(binary, left, right);
    } else {
      unit = left.unit().empty() ? right.unit() : left.unit();
    }
    if (left.kind() == Kind::Integer && right.kind() == Kind::Integer && whole(scale_left) &&
        whole(scale_right)) {
      return whole_arithmetic(binary, left.as_integer(kPermitted), right.as_integer(kPermitted),
                              static_cast<int64_t>(scale_left), static_cast<int64_t>(scale_right), unit);
    }
    return real_arithmetic(binary, left.as_real(kPermitted) * scale_left,
                           right.as_real(kPermitted) * scale_right, unit);
  }

  static bool whole(double scale) { return scale == std::floor(scale); }

  Value whole_arithmetic(const ast::Binary& binary, int64_t a, int64_t b, int64_t scale_a, int64_t scale_b,
                         const std::string& unit) {
    using enum ast::BinaryOp;
    if (__builtin_mul_overflow(a, scale_a, &a) || __builtin_mul_overflow(b, scale_b, &b))
      return overflow(binary.span);
    int64_t result = 0;
    bool over = false;
    switch (binary.op) {
      case Add:
        over = __builtin_add_overflow(a, b, &result);
        break;
      case Sub:
        over = __builtin_sub_overflow(a, b, &result);
        break;
      case Mul:
        over = __builtin_mul_overflow(a, b, &result);
        break;
      default:
        if (b == 0) return division_by_zero(binary);
        if (b == -1) {
          over = __builtin_sub_overflow(int64_t{0}, a, &result);
          if (binary.op == Mod) return Value::integer(0, unit);
          break;
        }
        if (binary.op == Mod) {
          // The result has the sign of the divisor: -1 % 4 is 3.
          result = a % b;
          if (result != 0 && (result < 0) != (b < 0)) result += b;
        } else if (a % b == 0) {
          result = a / b;
        } else {
          return Value::real(static_cast<double>(a) / static_cast<double>(b), unit);
        }
    }
    return over ? overflow(binary.span) : Value::integer(result, unit);
  }

  Value real_arithmetic(const ast::Binary& binary, double a, double b, const std::string& unit) {
    using enum ast::BinaryOp;
    double result = 0;
    switch (binary.op) {
      case Add:
        result = a + b;
        break;
      case Sub:
        result = a - b;
        break;
      case Mul:
        result = a * b;
        break;
      default:
        if (b == 0) return division_by_zero(binary);
        result = binary.op == Div ? a / b : a - b * std::floor(a / b);
    }
    return std::isfinite(result) ? Value::real(result, unit) : overflow(binary.span);
  }

  Value operands_clash(const ast::Binary& binary, const Value& left, const Value& right) {
    auto& diagnostic =
        context_.diagnostics->report(DiagCode::WrongOperand, binary.op_span,
                                     fmt::format("`{}` does not take {} and {}", op_text(binary.op),
                                                 kind_name(left.kind()), kind_name(right.kind())));
    if (binary.op == ast::BinaryOp::Add && (left.is_text() || right.is_text())) {
      diagnostic.with_help("strings are put together inside quotes: '${a}${b}'");
    }
    return {};
  }

  Value unit_clash(const ast::Binary& binary, const Value& left, const Value& right) {
    auto named = [](const Value& v) {
      return v.unit().empty() ? std::string("a number without unit") : "a number in " + v.unit();
    };
    return report(DiagCode::UnitClash, binary.op_span,
                  fmt::format("`{}` does not take {} and {}", op_text(binary.op), named(left), named(right)));
  }

  Value overflow(Span at) { return report(DiagCode::NumberRange, at, "the result is too large"); }

  Value division_by_zero(const ast::Binary& binary) {
    return report(DiagCode::NumberRange, binary.op_span, "division by zero");
  }

  const Context& context_;
};

}  // namespace

Value negative(const ast::Unary& unary, const Value& value, const Context& context) {
  return Operators(context).negative(unary, value);
}

Value binary_operator(const ast::Binary& binary, const Value& left, const Value& right,
                      const Context& context) {
  return Operators(context).binary(binary, left, right);
}

Value wrong_operand(std::string_view op, const Value& value, Span at, const Context& context) {
  context.diagnostics->report(DiagCode::WrongOperand, at,
                              fmt::format("`{}` does not take {}", op, kind_name(value.kind())));
  return {};
}

Value list_too_long(Span at, const Context& context) {
  context.diagnostics->report(DiagCode::ExpressionCost, at,
                              fmt::format("a list may have {} elements", kMaxElements));
  return {};
}

}  // namespace radl::expr

// Functions of numbers.
#include <fmt/format.h>

#include <cmath>

#include "compiler/eval/function_runs.h"
#include "compiler/eval/operators.h"
#include "compiler/eval/secret_access.h"
#include "compiler/eval/units.h"

namespace radl::expr {

namespace {

// The arguments, or the elements of the one list that is given.
const Items* spread(const CallFrame& call, Items& own) {
  if (call.size() == 1 && call[0].kind() == Kind::List) return &call[0].items();
  for (size_t i = 0; i < call.size(); i++) own.push_back(call[i]);
  return &own;
}

Value extreme(const CallFrame& call, bool largest) {
  Items own;
  const Items* items = spread(call, own);
  if (items->empty()) return call.fail("the list is empty: it has neither a least nor a greatest element");
  const Value* best = nullptr;
  for (const Value& item : *items) {
    if (!item.is_number())
      return call.fail(fmt::format("min() and max() compare numbers, not {}", kind_name(item.kind())));
    if (best == nullptr) {
      best = &item;
      continue;
    }
    auto common = common_unit(item.unit(), best->unit());
    if (!common)
      return call.fail(
          item.sensitive() || best->sensitive()
              ? std::string("the numbers have units that do not go together")
              : fmt::format("'{}' and '{}' cannot be compared", *display(item), *display(*best)));
    const int order = compare_numbers(item, common->left, *best, common->right, kPermitted);
    if (largest ? order > 0 : order < 0) best = &item;
  }
  return *best;
}

Value rounded(const CallFrame& call, double (*round)(double)) {
  const Value& value = call[0];
  if (value.kind() == Kind::Integer) return value;
  if (value.kind() != Kind::Real) return call.expected(0, "a number");
  double result = round(value.as_real(kPermitted));
  if (std::abs(result) > 9.2e18) return call.fail("the number is too large to be a whole one");
  return Value::integer(static_cast<int64_t>(result), value.unit());
}

}  // namespace

Value run_min(const CallFrame& call) { return extreme(call, false); }
Value run_max(const CallFrame& call) { return extreme(call, true); }

Value run_sum(const CallFrame& call) {
  Items own;
  Value sum = Value::integer(0);
  bool first = true;
  ast::Binary plus;
  plus.op = ast::BinaryOp::Add;
  plus.span = call.span();
  for (const Value& item : *spread(call, own)) {
    if (!item.is_number())
      return call.fail(fmt::format("sum() adds numbers, not {}", kind_name(item.kind())));
    if (!first && !common_unit(sum.unit(), item.unit()))
      return call.fail("the numbers have units that do not go together");
    sum = first ? item : binary_operator(plus, sum, item, call.context());
    if (sum.is_error()) return sum;
    first = false;
  }
  return sum;
}

Value run_ceil(const CallFrame& call) {
  return rounded(call, [](double x) { return std::ceil(x); });
}
Value run_floor(const CallFrame& call) {
  return rounded(call, [](double x) { return std::floor(x); });
}
Value run_round(const CallFrame& call) {
  return rounded(call, [](double x) { return std::round(x); });
}

Value run_abs(const CallFrame& call) {
  const Value& value = call[0];
  if (value.kind() == Kind::Real) return Value::real(std::abs(value.as_real(kPermitted)), value.unit());
  if (value.kind() != Kind::Integer) return call.expected(0, "a number");
  if (value.as_integer(kPermitted) == INT64_MIN) return call.fail("the result is too large");
  return Value::integer(std::abs(value.as_integer(kPermitted)), value.unit());
}

}  // namespace radl::expr

#include "compiler/eval/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/eval/evaluator.h"
#include "compiler/eval/operators.h"
#include "compiler/eval/secret_access.h"
#include "compiler/syntax/unicode.h"

namespace radl::expr {

const std::vector<std::string>& Systems::attributes() {
  static const std::vector<std::string> names = {"ip",     "private_ip", "public_ip", "port",
                                                 "user",   "id",         "hostname",  "fqdn",
                                                 "number", "ordinal",    "system",    "address"};
  return names;
}

bool charge(const Context& context, size_t operations, size_t bytes, Span at) {
  Budget* budget = context.budget;
  if (budget == nullptr) return true;
  bool enough = budget->operations >= operations && budget->bytes >= bytes;
  if (enough) {
    budget->operations -= operations;
    budget->bytes -= bytes;
    return true;
  }
  if (!budget->spent) {
    context.diagnostics->report(DiagCode::ExpressionCost, at,
                                "the expressions of this program cost more than is allowed");
    budget->spent = true;
  }
  return false;
}

std::optional<std::vector<std::pair<Value, Value>>> Evaluator::elements(const Value& list, Span at) {
  std::vector<std::pair<Value, Value>> out;
  return elements_of(list, at, out) ? std::optional(std::move(out)) : std::nullopt;
}

Value Evaluator::run(const ast::Expr& expression) {
  Budget* budget = context_.budget;
  if (depth_ >= kMaxDepth || (budget != nullptr && budget->levels >= kMaxLevels))
    return too_deep(expression.span);
  if (!charge(context_, 1, 0, expression.span)) return {};
  depth_++;
  if (budget != nullptr) budget->levels++;
  Value value = dispatch(expression);
  depth_--;
  if (budget != nullptr) budget->levels--;
  return value.excess() == Excess::None ? value : too_large(value, expression.span);
}

Value Evaluator::too_deep(Span at) {
  return report(DiagCode::ExpressionCost, at,
                depth_ >= kMaxDepth
                    ? fmt::format("this expression is nested deeper than {}", kMaxDepth)
                    : fmt::format("expressions that need each other are nested deeper than {}", kMaxLevels));
}

Value Evaluator::report(DiagCode code, Span at, std::string message) {
  context_.diagnostics->report(code, at, std::move(message));
  return {};
}

Value Evaluator::dispatch(const ast::Expr& expression) {
  if (auto* number = ast::as<ast::Number>(&expression)) return number_value(*number);
  if (auto* text = ast::as<ast::String>(&expression)) return text_value(*text);
  if (auto* boolean = ast::as<ast::Boolean>(&expression)) return Value::boolean(boolean->value);
  if (auto* list = ast::as<ast::ListValue>(&expression)) return list_value(*list);
  if (auto* reference = ast::as<ast::Reference>(&expression)) return reference_value(*reference);
  if (auto* unary = ast::as<ast::Unary>(&expression)) return unary_value(*unary);
  if (auto* binary = ast::as<ast::Binary>(&expression)) return binary_value(*binary);
  if (auto* choice = ast::as<ast::If>(&expression)) return choice_value(*choice);
  if (auto* call = ast::as<ast::Call>(&expression)) return call_value(*call);
  if (auto* map = ast::as<ast::MapValue>(&expression)) return map_value(*map);
  if (auto* select = ast::as<ast::Select>(&expression)) return select_value(*select);
  if (auto* made = ast::as<ast::Comprehension>(&expression)) return made_value(*made);
  if (auto* bound = ast::as<ast::Bound>(&expression)) return *bound->value;
  if (expression.kind == ast::Kind::Random) {
    return report(DiagCode::WrongOperand, expression.span, "'random(N)' can only be the value of a feature");
  }
  return {};  // ErrorValue and EC3's references: reported by the parser
}

Value Evaluator::number_value(const ast::Number& number) {
  std::string unit(number.unit.text);
  if (number.big) return report(DiagCode::NumberRange, number.span, "this integer does not fit into 64 bits");
  return number.is_float ? Value::real(number.real, unit) : Value::integer(number.integer, unit);
}

Value Evaluator::text_value(const ast::String& text) {
  if (text.parts.empty()) {
    if (!charge(context_, 0, text.text.size(), text.span)) return {};
    return Value::string(std::string(text.text)).written_in(text.span.file);
  }
  Items parts;
  uint32_t first_file = 0;
  for (const ast::StringPart& part : text.parts) {
    if (part.value == nullptr) {
      parts.push_back(Value::string(std::string(part.text)));
      continue;
    }
    Value value = run(*part.value);
    if (value.is_error()) return Value().taint(value);
    if (&part == &text.parts[0]) first_file = value.kind() == Kind::String ? value.file() : text.span.file;
    if (value.kind() == Kind::Unknown || value.kind() == Kind::Joined) {
      parts.push_back(std::move(value));
      continue;
    }
    auto shown = display(value, kPermitted);
    if (!shown) {
      return cannot_stand(value, part.value->span);
    }
    parts.push_back(Value::string(std::move(*shown)).taint(value));
  }
  size_t bytes = 0;
  for (const Value& part : parts) bytes += part.kind() == Kind::String ? part.as_text(kPermitted).size() : 0;
  if (!charge(context_, parts.size(), bytes, text.span)) return {};
  // '${input.folder}/x' is a path of the place where the folder was written.
  uint32_t file = text.parts[0].value == nullptr ? text.span.file : first_file;
  return Value::joined(std::move(parts)).written_in(file);
}

Value Evaluator::cannot_stand(const Value& value, Span at) {
  const bool later = value.has_unknown();
  auto& found =
      context_.diagnostics->report(DiagCode::WrongOperand, at,
                                   fmt::format("{}{} cannot stand in a string", kind_name(value.kind()),
                                               later ? " that is known after apply" : ""));
  if (later)
    found.with_help(value.kind() == Kind::List ? "write json(..), or join(.., ', ') for its elements in a row"
                                               : "write json(..)");
  return {};
}

// No value may hold so much that looking at all of it would take long, however little text it was made by.
Value Evaluator::too_large(const Value& value, Span at) {
  return report(DiagCode::ExpressionCost, at,
                value.excess() == Excess::Depth
                    ? fmt::format("lists and maps are nested deeper than {}", kMaxValueDepth)
                    : fmt::format("this value holds more than {} others", kMaxWeight))
      .taint(value);
}

Value Evaluator::unary_value(const ast::Unary& unary) {
  Value value = run(*unary.operand);
  if (value.is_error() || !known(value, unary.operand->span)) return {};
  if (unary.op == ast::UnaryOp::Not) {
    if (value.kind() != Kind::Boolean) return wrong_operand("not", value, unary.operand->span);
    return Value::boolean(!value.as_boolean(kPermitted)).taint(value);
  }
  return negative(unary, value, context_);
}

Value Evaluator::choice_value(const ast::If& choice) {
  Value condition = run(*choice.condition);
  if (condition.is_error() || !known(condition, choice.condition->span)) return {};
  if (condition.kind() != Kind::Boolean) return wrong_operand("if", condition, choice.condition->span);
  Value value = run(condition.as_boolean(kPermitted) ? *choice.then_value : *choice.else_value);
  return chosen(std::move(value), condition, choice.condition->span);
}

// `1 + 2 + 3` is a tree that leans to the left: its operators are applied one after the other, however many
// they are, and are one level.
Value Evaluator::binary_value(const ast::Binary& last) {
  std::vector<const ast::Binary*> operators{&last};
  while (auto* inner = ast::as<ast::Binary>(operators.back()->left)) operators.push_back(inner);
  const ast::Binary& innermost = *operators.back();
  Value value = innermost.op == ast::BinaryOp::Or ? optional_value(*innermost.left) : run(*innermost.left);
  for (; operators.size() > 1; operators.pop_back()) {
    const ast::Binary& inner = *operators.back();
    if (!charge(context_, 1, 0, inner.span)) return {};
    value = applied(inner, value, operators[operators.size() - 2]->op == ast::BinaryOp::Or);
    if (value.excess() != Excess::None) return too_large(value, inner.span);
  }
  return applied(last, value);
}

// `alternatives`: the value is itself the left side of an `or`.
Value Evaluator::applied(const ast::Binary& binary, const Value& left, bool alternatives) {
  using enum ast::BinaryOp;
  if (left.is_error()) return Value().taint(left);  // a secret without a value yet
  if (binary.op == Or && left.kind() != Kind::Boolean) return alternative(binary, left, alternatives);
  // Lists can be joined whatever their elements are.
  const bool joins = binary.op == Add && left.kind() == Kind::List;
  if (!joins && !known(left, binary.left->span)) return {};
  if (binary.op == And || binary.op == Or) return logic_value(binary, left);
  Value right = run(*binary.right);
  if (right.is_error()) return Value().taint(left).taint(right);
  const bool joined = joins && right.kind() == Kind::List;
  if (!joined && (!known(left, binary.left->span) || !known(right, binary.right->span))) return {};
  Value value = binary_operator(binary, left, right, context_);
  return value.is_error() ? value : value.taint(left).taint(right);
}

// `site.front or none`: the left value, unless it is none.
Value Evaluator::alternative(const ast::Binary& binary, const Value& left, bool more) {
  if (left.kind() == Kind::Null) {
    Value right = more ? optional_value(*binary.right) : run(*binary.right);
    return right.taint(left);
  }
  auto* before = ast::as<ast::Binary>(binary.left);
  const bool may_be_missing =
      binary.left->kind == ast::Kind::Reference || binary.left->kind == ast::Kind::Select ||
      binary.left->kind == ast::Kind::Bound || (before != nullptr && before->op == ast::BinaryOp::Or);
  return may_be_missing ? left : wrong_operand("or", left, binary.left->span);
}

// As run(), but `none` for a module or an output that its `when` leaves out.
Value Evaluator::optional_value(const ast::Expr& written) {
  auto* reference = ast::as<ast::Reference>(&written);
  return reference != nullptr && left_out(*reference) ? Value::null() : run(written);
}

bool Evaluator::left_out(const ast::Reference& reference) const {
  const Namespace* space = context_.names;
  if (space == nullptr || reference.parts.size() < 2) return false;
  for (const Binding* binding = bindings_; binding != nullptr; binding = binding->outer)
    if (binding->name == reference.parts[0].name.text) return false;
  for (const ast::PathPart& part : reference.parts) {
    if (!part.name) return false;
    const auto member = space->member(part.name.text, reference.span);
    if (!member) return !space->absence(part.name.text).empty();
    if (member->kind() != Kind::Namespace) return false;
    space = member->space();
  }
  return false;
}

Value Evaluator::logic_value(const ast::Binary& binary, const Value& left) {
  if (left.kind() != Kind::Boolean) return wrong_operand(op_text(binary.op), left, binary.left->span);
  if (left.as_boolean(kPermitted) == (binary.op == ast::BinaryOp::Or)) return left;
  Value right = run(*binary.right);
  if (right.is_error() || !known(right, binary.right->span)) return {};
  if (right.kind() != Kind::Boolean) return wrong_operand(op_text(binary.op), right, binary.right->span);
  return right.taint(left);
}

bool Evaluator::known(const Value& value, Span at) {
  if (!value.has_unknown()) return true;
  report(DiagCode::NotKnownYet, at, "nothing can be computed with a value that is known only after apply");
  return false;
}

Value Evaluator::wrong_operand(std::string_view op, const Value& value, Span at) {
  return expr::wrong_operand(op, value, at, context_);
}

namespace {

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    uint32_t length = static_cast<unsigned char>(text[0]) < 0x80 ? 1 : decode_utf8(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Plans, state and IR are JSON: no text in them can hold other bytes.
bool is_utf8(const Value& value) {
  if (value.kind() == Kind::String) return is_utf8(value.as_text(kPermitted));
  if (value.kind() == Kind::List || value.kind() == Kind::Joined)
    return std::all_of(value.items().begin(), value.items().end(), [](const Value& v) { return is_utf8(v); });
  if (value.kind() == Kind::Map)
    return std::all_of(value.entries().begin(), value.entries().end(),
                       [](const auto& entry) { return is_utf8(entry.first) && is_utf8(entry.second); });
  return true;
}

}  // namespace

Value evaluate(const ast::Expr& expression, const Context& context) {
  Value value = Evaluator(context).run(expression);
  if (is_utf8(value)) return value;
  if (!context.diagnostics->has(DiagCode::NotUtf8))
    context.diagnostics->report(DiagCode::WrongOperand, expression.span, "this string is not UTF-8")
        .with_help("other bytes can stand in it as base64: base64(file('image.png'))");
  return {};
}

std::optional<std::vector<std::pair<Value, Value>>> elements(const Value& list, Span at,
                                                             const Context& context) {
  return Evaluator(context).elements(list, at);
}

}  // namespace radl::expr

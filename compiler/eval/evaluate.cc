#include "compiler/eval/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "compiler/eval/evaluator.h"
#include "compiler/eval/function_runs.h"
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
  if (depth_ >= kMaxDepth) {
    return report(DiagCode::ExpressionCost, expression.span,
                  fmt::format("this expression is nested deeper than {}", kMaxDepth));
  }
  if (!charge(context_, 1, 0, expression.span)) return {};
  depth_++;
  Value value = dispatch(expression);
  depth_--;
  return value.excess() == Excess::None ? value : too_large(value, expression.span);
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
  Value value = run(*operators.back()->left);
  for (; operators.size() > 1; operators.pop_back()) {
    const ast::Binary& inner = *operators.back();
    if (!charge(context_, 1, 0, inner.span)) return {};
    value = applied(inner, value);
    if (value.excess() != Excess::None) return too_large(value, inner.span);
  }
  return applied(last, value);
}

Value Evaluator::applied(const ast::Binary& binary, const Value& left) {
  using enum ast::BinaryOp;
  if (left.is_error()) return Value().taint(left);  // a secret without a value yet
  // Lists are put together whatever stands in them.
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

Value Evaluator::logic_value(const ast::Binary& binary, const Value& left) {
  if (left.kind() != Kind::Boolean) return wrong_operand(op_text(binary.op), left, binary.left->span);
  if (left.as_boolean(kPermitted) == (binary.op == ast::BinaryOp::Or)) return left;
  Value right = run(*binary.right);
  if (right.is_error() || !known(right, binary.right->span)) return {};
  if (right.kind() != Kind::Boolean) return wrong_operand(op_text(binary.op), right, binary.right->span);
  return right.taint(left);
}

Value Evaluator::call_value(const ast::Call& call) {
  const Function* function = find_function(call.function.text);
  if (function == nullptr) return unknown_function(call);
  size_t given = call.arguments.size();
  if (given < function->least || given > function->most) {
    return report(DiagCode::WrongArguments, call.span,
                  fmt::format("{}({}) does not take {} argument{}", function->info.name,
                              function->info.parameters, given, given == 1 ? "" : "s"));
  }
  if (!call.named.empty())
    return report(DiagCode::WrongArguments, call.named[0].span,
                  fmt::format("{}() takes no named arguments", function->info.name));
  std::vector<Value> arguments;
  bool error = false;
  for (const ast::Expr* argument : call.arguments) {
    arguments.push_back(run(*argument));
    error = error || arguments.back().is_error();
    if (!error && !function->takes_unknown && !known(arguments.back(), argument->span)) error = true;
  }
  if (error) {
    Value missing;
    for (const Value& argument : arguments) missing.taint(argument);
    return missing;
  }
  CallFrame frame(context_, call, std::move(arguments));
  Value value = function->run(frame);
  if (value.is_error()) return value;
  // What a structure of secrets contains is marked inside; its length or first key is no secret worth
  // hiding less. What was chosen or made by a secret is one as a whole.
  for (size_t i = 0; i < frame.size(); i++) {
    bool inside = frame[i].kind() == Kind::List || frame[i].kind() == Kind::Map;
    bool orders = function->run == run_sort || function->run == run_distinct;
    bool whole = (!inside || orders) && !function->holds_arguments;
    if (frame[i].sensitive() && (whole || !value.sensitive())) value.taint(frame[i]);
  }
  // lookup(map, secret, otherwise): the only function that chooses among what is not known yet.
  if (function->run == run_lookup && frame[1].sensitive())
    return chosen(std::move(value), frame[1], call.span);
  return value;
}

namespace {

// How other languages call what there is here.
std::string_view here_called(std::string_view function) {
  static constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"len", "length(x)"},
      {"size", "length(x)"},
      {"contains", "has(list, x)"},
      {"includes", "has(list, x)"},
      {"concat", "list + list"},
      {"element", "list[i]"},
      {"tostring", "string(x)"},
      {"str", "string(x)"},
      {"tonumber", "number(x)"},
      {"int", "number(x)"},
      {"jsonencode", "json(x)"},
      {"toJSON", "json(x)"},
      {"base64encode", "base64(x)"},
      {"templatefile", "template(path, values)"},
      {"unique", "distinct(list)"},
      {"trimspace", "trim(x)"},
      {"getenv", "env(name, otherwise)"},
      {"get", "lookup(map, name, otherwise)"},
      {"values", "map[*]"},
      {"uppercase", "upper(x)"},
      {"toupper", "upper(x)"},
      {"lowercase", "lower(x)"},
      {"tolower", "lower(x)"},
      {"substr", "substring(string, from, count)"},
      {"slice", "substring(string, from, count), or [x for i, x in list if i >= from]"}};
  for (const auto& [other, ours] : kOthers)
    if (other == function) return ours;
  return {};
}

}  // namespace

Value Evaluator::unknown_function(const ast::Call& call) {
  std::vector<std::string> names;
  for (const Function& function : function_table()) names.emplace_back(function.info.name);
  auto& diagnostic =
      context_.diagnostics->report(DiagCode::UnknownFunction, call.function.span,
                                   fmt::format("no function is named '{}'", call.function.text));
  const std::string_view written = call.function.text;
  const size_t dot = written.rfind('.');
  if (dot != written.npos && find_function(written.substr(dot + 1)) != nullptr) {
    const std::string function(written.substr(dot + 1)), value(written.substr(0, dot));
    const std::string more = call.arguments.empty() ? "" : ", ";
    const std::string ours = fmt::format("{}({}{})", function, value, more.empty() ? "" : ", ..");
    const Span open{call.span.file, call.function.span.end + 1, call.function.span.end + 1};
    diagnostic.with_help("functions have no value in front of them: " + ours);
    diagnostic.fixes.push_back({"write " + ours, {{call.function.span, function}, {open, value + more}}});
  } else if (auto ours = here_called(written); !ours.empty()) {
    diagnostic.with_help(fmt::format("write {}", ours));
  } else if (auto near = nearest(call.function.text, names); !near.empty()) {
    diagnostic.with_help(fmt::format("did you mean '{}'?", near))
        .fix(fmt::format("write '{}'", near), call.function.span, near);
  }
  return {};
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

// Calls of built-in functions, and of functions declared in a file.
#include <fmt/format.h>

#include "common/text.h"
#include "compiler/eval/evaluator.h"
#include "compiler/eval/function_runs.h"
#include "compiler/eval/operators.h"
#include "compiler/eval/secret_access.h"

namespace radl::expr {

Value Evaluator::call_value(const ast::Call& call) {
  const Function* function = find_function(call.function.text);
  if (function == nullptr) {
    const auto declared =
        context_.names == nullptr ? Namespace::Declared() : context_.names->function(call.function.text);
    return declared.function == nullptr ? unknown_function(call) : declared_value(call, declared);
  }
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
    if (!error && function->arguments == Arguments::Known && !known(arguments.back(), argument->span))
      error = true;
  }
  if (error) {
    Value missing;
    for (const Value& argument : arguments) missing.taint(argument);
    return missing;
  }
  CallFrame frame(context_, call, std::move(arguments));
  Value value = function->run(frame);
  if (value.is_error()) return value;
  // Secrets inside a structure are marked individually; its length or first key is not worth hiding. A value
  // selected or computed by a secret is secret as a whole.
  for (size_t i = 0; i < frame.size(); i++) {
    bool inside = frame[i].kind() == Kind::List || frame[i].kind() == Kind::Map;
    bool orders = function->run == run_sort || function->run == run_distinct;
    bool whole = (!inside || orders) && function->arguments != Arguments::Held;
    if (frame[i].sensitive() && (whole || !value.sensitive())) value.taint(frame[i]);
  }
  // lookup(map, secret, otherwise): the only function that chooses among what is not known yet.
  if (function->run == run_lookup && frame[1].sensitive())
    return chosen(std::move(value), frame[1], call.span);
  return value;
}

// A function sees its parameters and what its file declares: neither `self` nor variables around the call.
// Calls within calls are levels of one expression, so kMaxDepth bounds recursion;
// kMaxLevels bounds it together with the values that the function needs.
Value Evaluator::declared_value(const ast::Call& call, const Namespace::Declared& declared) {
  const List<ast::Name>& parameters = declared.function->parameters;
  if (call.arguments.size() != parameters.size() || !call.named.empty()) {
    const Span at = call.named.empty() ? call.span : call.named[0].span;
    std::string names;
    for (const ast::Name& name : parameters) names += (names.empty() ? "" : ", ") + std::string(name.text);
    context_.diagnostics
        ->report(DiagCode::WrongArguments, at,
                 call.named.empty()
                     ? fmt::format("{}({}) does not take {} argument{}", declared.function->name.text, names,
                                   call.arguments.size(), call.arguments.size() == 1 ? "" : "s")
                     : fmt::format("{}() takes no named arguments", declared.function->name.text))
        .note(declared.function->name.span, "declared here");
    return {};
  }
  Items values;
  for (const ast::Expr* argument : call.arguments) {
    values.push_back(run(*argument));
    if (values.back().is_error()) return Value().taint(values.back());
  }
  std::vector<Binding> bindings(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    bindings[i] = {parameters[static_cast<uint32_t>(i)].text, &values[i],
                   i == 0 ? nullptr : &bindings[i - 1]};
  Diagnostics inner;
  Context inside = context_;
  inside.diagnostics = &inner;
  inside.names = declared.names;
  inside.bindings = &bindings.back();
  inside.depth = depth_;
  Value value = Evaluator(inside).run(*declared.function->value);
  constexpr size_t kMostNotes = 4;
  for (const Diagnostic& found : inner.all()) {
    Diagnostic& told = context_.diagnostics->report(found.code, found.span, found.message);
    told.label = found.label;
    told.help = found.help;
    told.notes = found.notes;
    told.fixes = found.fixes;
    const bool again = !told.notes.empty() && told.notes.back().span == call.span;  // a recursion
    if (told.notes.size() < kMostNotes && !again)
      told.note(call.span, fmt::format("in this call of `{}`", declared.function->name.text));
  }
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
    diagnostic.with_help("functions take the value as an argument: " + ours);
    diagnostic.fixes.push_back({"write " + ours, {{call.function.span, function}, {open, value + more}}});
  } else if (auto ours = here_called(written); !ours.empty()) {
    diagnostic.with_help(fmt::format("write {}", ours));
  } else if (auto near = nearest(call.function.text, names); !near.empty()) {
    diagnostic.with_help(fmt::format("did you mean '{}'?", near))
        .fix(fmt::format("write '{}'", near), call.function.span, near);
  }
  return {};
}

}  // namespace radl::expr

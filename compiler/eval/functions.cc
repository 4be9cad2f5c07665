#include "compiler/eval/functions.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/eval/function_runs.h"

namespace radl::expr {

Value CallFrame::expected(size_t i, std::string_view what) const {
  context_.diagnostics->report(
      DiagCode::WrongArguments, span(i),
      fmt::format("{}() takes {} here, not {}", call_.function.text, what, kind_name(arguments_[i].kind())));
  return {};
}

Value CallFrame::fail(std::string message) const {
  context_.diagnostics->report(DiagCode::FunctionFailed, span(), std::move(message));
  return {};
}

bool CallFrame::charge(size_t elements, size_t bytes) const {
  if (elements > kMaxElements) {
    context_.diagnostics->report(DiagCode::ExpressionCost, span(),
                                 fmt::format("a list may have {} elements", kMaxElements));
    return false;
  }
  // Elements take memory as strings do.
  return expr::charge(context_, elements, bytes + elements * sizeof(Value), span());
}

// ---- the world

// Which file or variable was read stands in messages, and of files in the IR.
static Value secret_name(const CallFrame& call) {
  call.context().diagnostics->report(DiagCode::SecretShown, call.span(0),
                                     "what is read is shown in plans: its name cannot be a secret");
  return Value().mark_sensitive();
}

Value run_env(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a string");
  if (call[0].sensitive()) return secret_name(call);
  if (call.context().world == nullptr) return call.fail("env() cannot be used here");
  if (auto value = call.context().world->variable(call[0].as_text())) return Value::string(std::move(*value));
  if (call.size() == 2) return call[1];
  return call.fail(
      fmt::format("the environment has no variable '{}', and no other value is given", call[0].as_text()));
}

Value run_generated(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a name (a string)");
  if (call[0].sensitive()) return secret_name(call);
  auto text =
      call.context().world == nullptr ? std::nullopt : call.context().world->generated(call[0].as_text());
  if (!text) return call.fail("generated() cannot be used here");
  return Value::string(std::move(*text)).mark_sensitive();
}

Value run_file(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a path (a string)");
  if (call[0].sensitive()) return secret_name(call);
  if (call.context().world == nullptr) return call.fail("file() cannot be used here");
  auto content = call.context().world->file(call[0].as_text(), call.span());
  if (!content.ok()) return call.fail(content.status().text());
  return call.charge(0, content->size()) ? Value::string(std::move(*content)) : Value();
}

// The file sees the values of the map and nothing else.
Value run_template(const CallFrame& call) {
  if (call[0].kind() != Kind::String) return call.expected(0, "a path (a string)");
  if (call[1].kind() != Kind::Map) return call.expected(1, "a map of values");
  if (call[0].sensitive()) return secret_name(call);
  if (call.context().world == nullptr) return call.fail("template() cannot be used here");
  auto text = call.context().world->text_template(call[0].as_text(), call.span());
  if (!text.ok()) return call.fail(text.status().text());
  std::vector<Binding> bindings;
  bindings.reserve(call[1].entries().size());
  for (const auto& [name, value] : call[1].entries())
    bindings.push_back({name, &value, bindings.empty() ? nullptr : &bindings.back()});
  Context inside = call.context();
  constexpr int kMostWithin = 20;
  if (++inside.templates > kMostWithin) return call.fail("templates use each other more than 20 deep");
  inside.names = nullptr;
  inside.bindings = bindings.empty() ? nullptr : &bindings.back();
  return evaluate(**text, inside);
}

namespace {

constexpr size_t kAny = 1000;

constexpr Function kFunctions[] = {
    {{"abs", "number", "The number without its sign.", "abs(-3) -> 3"}, 1, 1, false, run_abs},
    {{"base64", "string", "The string's bytes in base64.", "base64('radl') -> 'cmFkbA=='"},
     1,
     1,
     false,
     run_base64},
    {{"bytes", "size", "A size as an integer number of bytes.", "bytes(2K) -> 2000"}, 1, 1, false, run_bytes},
    {{"ceil", "number", "The least integer that is not smaller.", "ceil(2.1) -> 3"}, 1, 1, false, run_ceil},
    {{"has", "whole, part",
      "Whether a string has a part, a list an element, a map a name, a module an output.",
      "has(['a', 'b'], 'a') -> true"},
     2,
     2,
     false,
     run_has},
    {{"count", "list, map or system",
      "How many elements or entries; of one or several systems, how many nodes.", "count([1, 2]) -> 2"},
     1,
     1,
     true,
     run_count},
    {{"distinct", "list", "Each element once, at its first place.", "distinct([1, 2, 1]) -> [1, 2]"},
     1,
     1,
     false,
     run_distinct},
    {{"ends_with", "string, end", "Whether the string ends so.", "ends_with('a.yml', '.yml') -> true"},
     2,
     2,
     false,
     run_ends_with},
    {{"env", "name, otherwise", "A variable of the environment in which radlc runs.",
      "env('RADL_DOC_EXAMPLE', 'none') -> 'none'"},
     1,
     2,
     false,
     run_env},
    {{"file", "path", "A file's content; the path is relative to the source file.", ""},
     1,
     1,
     false,
     run_file},
    {{"flatten", "list", "Lists in the list are replaced by their elements, one level deep.",
      "flatten([[1, 2], [3]]) -> [1, 2, 3]"},
     1,
     1,
     true,
     run_flatten},
    {{"floor", "number", "The greatest integer that is not larger.", "floor(2.9) -> 2"},
     1,
     1,
     false,
     run_floor},
    {{"format", "pattern, values", "The pattern with each `{}` replaced by a value.",
      "format('{}:{}', 'a', 80) -> 'a:80'"},
     1,
     kAny,
     true,
     run_format,
     true},
    {{"generated", "name",
      "A secret of this infrastructure that radlc makes up: 64 hexadecimal digits, the same at each apply.",
      ""},
     1,
     1,
     false,
     run_generated},
    {{"join", "list, separator", "The elements put together as one string.",
      "join(['a', 'b'], '-') -> 'a-b'"},
     1,
     2,
     true,
     run_join,
     true},
    {{"json", "value", "The value as a JSON string.", "json([1, 'a']) -> '[1,\"a\"]'"}, 1, 1, true, run_json},
    {{"keys", "map", "The names of a map, sorted.", "keys(map('a', 1)) -> ['a']"}, 1, 1, true, run_keys},
    {{"length", "string, list or map", "How many characters, elements or entries.", "length('radl') -> 4"},
     1,
     1,
     true,
     run_length},
    {{"lookup", "map, name, otherwise",
      "The entry of that name (of a module: the output), or the other value.",
      "lookup(map('a', 1), 'b', 0) -> 0"},
     3,
     3,
     true,
     run_lookup},
    {{"lower", "string", "A to Z as a to z.", "lower('RADL') -> 'radl'"}, 1, 1, false, run_lower},
    {{"map", "name, value, ...", "A map of names and values given in turn.",
      "lookup(map('a', 1), 'a', 0) -> 1"},
     0,
     kAny,
     true,
     run_map,
     true},
    {{"max", "numbers or list", "The greatest.", "max(1, 3, 2) -> 3"}, 1, kAny, false, run_max},
    {{"merge", "maps", "All entries; later maps win.",
      "lookup(merge(map('a', 1), map('a', 2)), 'a', 0) -> 2"},
     1,
     kAny,
     true,
     run_merge},
    {{"min", "numbers or list", "The least.", "min([3, 2]) -> 2"}, 1, kAny, false, run_min},
    {{"number", "string", "The number that the string is.", "number('2.5') -> 2.5"}, 1, 1, false, run_number},
    {{"range", "from, to", "The integers from `from` (or 0) up to, not with, `to`.", "range(3) -> [0, 1, 2]"},
     1,
     2,
     false,
     run_range},
    {{"replace", "string, part, by", "Every occurrence of a part replaced.",
      "replace('a.b', '.', '-') -> 'a-b'"},
     3,
     3,
     false,
     run_replace},
    {{"round", "number", "The nearest integer; halves go away from zero.", "round(2.5) -> 3"},
     1,
     1,
     false,
     run_round},
    {{"sha256", "string", "The digest of the string's bytes, in hexadecimal digits.",
      "length(sha256('')) -> 64"},
     1,
     1,
     false,
     run_sha256},
    {{"sort", "list", "Strings by their bytes, numbers by value.", "sort([2, 1]) -> [1, 2]"},
     1,
     1,
     false,
     run_sort},
    {{"split", "string, separator", "The parts between separators.", "split('a,b', ',') -> ['a', 'b']"},
     2,
     2,
     false,
     run_split},
    {{"starts_with", "string, start", "Whether the string begins so.",
      "starts_with('ami-1', 'ami-') -> true"},
     2,
     2,
     false,
     run_starts_with},
    {{"string", "value", "The value as it stands in a string.", "string(1.5) -> '1.5'"},
     1,
     1,
     true,
     run_text},
    {{"substring", "string, from, count",
      "So many characters, or all, from the one at `from` on; the first is at 0.",
      "substring('radlc', 1, 3) -> 'adl'"},
     2,
     3,
     false,
     run_substring},
    {{"sum", "numbers or list", "All of them added; 0 for none.", "sum([1, 2, 3]) -> 6"},
     1,
     kAny,
     false,
     run_sum},
    {{"template", "path, values",
      "A file's text, in which `${ }` stands for expressions over the map of values.", ""},
     2,
     2,
     true,
     run_template},
    {{"trim", "string", "Without spaces and line ends around it.", "trim(' a ') -> 'a'"},
     1,
     1,
     false,
     run_trim},
    {{"upper", "string", "a to z as A to Z.", "upper('radl') -> 'RADL'"}, 1, 1, false, run_upper},
};

}  // namespace

std::span<const Function> function_table() { return kFunctions; }

const Function* find_function(std::string_view name) {
  if (name == "text") name = "string";  // the same under the name of the older type
  auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                            [&](const Function& f) { return f.info.name == name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

std::vector<FunctionInfo> functions() {
  std::vector<FunctionInfo> all;
  for (const Function& function : kFunctions) all.push_back(function.info);
  return all;
}

}  // namespace radl::expr

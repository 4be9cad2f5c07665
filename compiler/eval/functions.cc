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
    {{"abs", "number", "The absolute value.", "abs(-3) -> 3"}, 1, 1, false, run_abs},
    {{"base64", "string", "The bytes of the string in base64.", "base64('radl') -> 'cmFkbA=='"},
     1,
     1,
     false,
     run_base64},
    {{"bytes", "size", "A size as an integer number of bytes.", "bytes(2K) -> 2000"}, 1, 1, false, run_bytes},
    {{"ceil", "number", "The smallest integer that is not less than the number.", "ceil(2.1) -> 3"},
     1,
     1,
     false,
     run_ceil},
    {{"has", "whole, part",
      "Whether a string contains a part, a list an element, a map a key, or a module an output.",
      "has(['a', 'b'], 'a') -> true"},
     2,
     2,
     false,
     run_has},
    {{"count", "list, map or system", "The number of elements or entries; for systems, the number of nodes.",
      "count([1, 2]) -> 2"},
     1,
     1,
     true,
     run_count},
    {{"distinct", "list", "The list without duplicates, in the order of first occurrence.",
      "distinct([1, 2, 1]) -> [1, 2]"},
     1,
     1,
     false,
     run_distinct},
    {{"ends_with", "string, end", "Whether the string ends with `end`.",
      "ends_with('a.yml', '.yml') -> true"},
     2,
     2,
     false,
     run_ends_with},
    {{"env", "name, otherwise", "An environment variable of radlc, or `otherwise` if it is not set.",
      "env('RADL_DOC_EXAMPLE', 'none') -> 'none'"},
     1,
     2,
     false,
     run_env},
    {{"file", "path", "The content of a file. The path is relative to the source file.", ""},
     1,
     1,
     false,
     run_file},
    {{"flatten", "list", "The list with inner lists replaced by their elements, one level deep.",
      "flatten([[1, 2], [3]]) -> [1, 2, 3]"},
     1,
     1,
     true,
     run_flatten},
    {{"floor", "number", "The largest integer that is not greater than the number.", "floor(2.9) -> 2"},
     1,
     1,
     false,
     run_floor},
    {{"format", "pattern, values", "The pattern, with each `{}` replaced by the next value.",
      "format('{}:{}', 'a', 80) -> 'a:80'"},
     1,
     kAny,
     true,
     run_format,
     true},
    {{"generated", "name",
      "A secret that radlc generates: 64 hexadecimal digits, the same at each apply of this infrastructure.",
      ""},
     1,
     1,
     false,
     run_generated},
    {{"join", "list, separator", "The elements joined into one string.", "join(['a', 'b'], '-') -> 'a-b'"},
     1,
     2,
     true,
     run_join,
     true},
    {{"json", "value", "The value as a JSON string.", "json([1, 'a']) -> '[1,\"a\"]'"}, 1, 1, true, run_json},
    {{"keys", "map", "The keys of a map, sorted.", "keys(map('a', 1)) -> ['a']"}, 1, 1, true, run_keys},
    {{"length", "string, list or map", "The number of characters, elements or entries.",
      "length('radl') -> 4"},
     1,
     1,
     true,
     run_length},
    {{"lookup", "map, name, otherwise",
      "The entry with this key (for a module, the output), or `otherwise` if it does not exist.",
      "lookup(map('a', 1), 'b', 0) -> 0"},
     3,
     3,
     true,
     run_lookup},
    {{"lower", "string", "The string with A to Z in lower case.", "lower('RADL') -> 'radl'"},
     1,
     1,
     false,
     run_lower},
    {{"map", "name, value, ...", "A map of alternating names and values.",
      "lookup(map('a', 1), 'a', 0) -> 1"},
     0,
     kAny,
     true,
     run_map,
     true},
    {{"max", "numbers or list", "The largest number.", "max(1, 3, 2) -> 3"}, 1, kAny, false, run_max},
    {{"merge", "maps", "The entries of all maps. Later maps win.",
      "lookup(merge(map('a', 1), map('a', 2)), 'a', 0) -> 2"},
     1,
     kAny,
     true,
     run_merge},
    {{"min", "numbers or list", "The smallest number.", "min([3, 2]) -> 2"}, 1, kAny, false, run_min},
    {{"number", "string", "The string as a number.", "number('2.5') -> 2.5"}, 1, 1, false, run_number},
    {{"range", "from, to", "The integers from `from` (default 0) up to `to`, which is excluded.",
      "range(3) -> [0, 1, 2]"},
     1,
     2,
     false,
     run_range},
    {{"replace", "string, part, by", "The string with every occurrence of `part` replaced.",
      "replace('a.b', '.', '-') -> 'a-b'"},
     3,
     3,
     false,
     run_replace},
    {{"round", "number", "The nearest integer. Halves are rounded away from zero.", "round(2.5) -> 3"},
     1,
     1,
     false,
     run_round},
    {{"sha256", "string", "The SHA-256 of the string's bytes, in hexadecimal digits.",
      "length(sha256('')) -> 64"},
     1,
     1,
     false,
     run_sha256},
    {{"sort", "list", "The list, sorted: strings by their bytes, numbers by value.",
      "sort([2, 1]) -> [1, 2]"},
     1,
     1,
     false,
     run_sort},
    {{"split", "string, separator", "The parts between separators.", "split('a,b', ',') -> ['a', 'b']"},
     2,
     2,
     false,
     run_split},
    {{"starts_with", "string, start", "Whether the string starts with `start`.",
      "starts_with('ami-1', 'ami-') -> true"},
     2,
     2,
     false,
     run_starts_with},
    {{"string", "value", "The value as a string, as `${ }` inserts it.", "string(1.5) -> '1.5'"},
     1,
     1,
     true,
     run_text},
    {{"substring", "string, from, count",
      "`count` characters, or all, from position `from`. The first position is 0.",
      "substring('radlc', 1, 3) -> 'adl'"},
     2,
     3,
     false,
     run_substring},
    {{"sum", "numbers or list", "The sum, 0 for an empty list.", "sum([1, 2, 3]) -> 6"},
     1,
     kAny,
     false,
     run_sum},
    {{"template", "path, values", "The text of a file, with each `${ }` replaced by its value over the map.",
      ""},
     2,
     2,
     true,
     run_template},
    {{"trim", "string", "The string without leading and trailing white space.", "trim(' a ') -> 'a'"},
     1,
     1,
     false,
     run_trim},
    {{"upper", "string", "The string with a to z in upper case.", "upper('radl') -> 'RADL'"},
     1,
     1,
     false,
     run_upper},
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

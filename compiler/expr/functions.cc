#include "compiler/expr/functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/digest.h"
#include "compiler/expr/units.h"

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
  return expr::charge(context_, elements, bytes, span());
}

namespace {

// ---- numbers

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
      return call.fail(fmt::format("'{}' and '{}' cannot be compared", *display(item), *display(*best)));
    double a = item.as_real() * common->left, b = best->as_real() * common->right;
    if (largest ? a > b : a < b) best = &item;
  }
  return *best;
}

Value run_min(const CallFrame& call) { return extreme(call, false); }
Value run_max(const CallFrame& call) { return extreme(call, true); }

Value rounded(const CallFrame& call, double (*round)(double)) {
  const Value& value = call[0];
  if (value.kind() == Kind::Integer) return value;
  if (value.kind() != Kind::Real) return call.expected(0, "a number");
  double result = round(value.as_real());
  if (std::abs(result) > 9.2e18) return call.fail("the number is too large to be a whole one");
  return Value::integer(static_cast<int64_t>(result), value.unit());
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
  if (value.kind() == Kind::Real) return Value::real(std::abs(value.as_real()), value.unit());
  if (value.kind() != Kind::Integer) return call.expected(0, "a number");
  if (value.as_integer() == INT64_MIN) return call.fail("the result is too large");
  return Value::integer(std::abs(value.as_integer()), value.unit());
}

// ---- lists and maps

Value run_count(const CallFrame& call) {
  const Value& value = call[0];
  if (value.kind() == Kind::List) return Value::integer(static_cast<int64_t>(value.items().size()));
  if (value.kind() == Kind::Map) return Value::integer(static_cast<int64_t>(value.entries().size()));
  if (value.kind() != Kind::System) return call.expected(0, "a list, a map or a system");
  auto count = call.context().systems->count(value.as_text(), call.span());
  return count ? Value::integer(*count) : Value();
}

Value run_range(const CallFrame& call) {
  for (size_t i = 0; i < call.size(); i++) {
    if (call[i].kind() != Kind::Integer || !call[i].unit().empty()) return call.expected(i, "a whole number");
  }
  int64_t from = call.size() == 2 ? call[0].as_integer() : 0, to = call[call.size() - 1].as_integer();
  if (to <= from) return Value::list({});
  uint64_t size = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  if (!call.charge(size, 0)) return {};
  Items items;
  for (int64_t i = from; i < to; i++) items.push_back(Value::integer(i));
  return Value::list(std::move(items));
}

// The elements as they stand in a text; nullopt (reported) when one has no text form.
bool append_text(const CallFrame& call, Items& parts, const Value& item) {
  if (item.kind() == Kind::Unknown || item.kind() == Kind::Joined) {
    parts.push_back(item);
    return true;
  }
  auto text = display(item);
  if (!text) {
    call.fail(fmt::format("{} has no text form", kind_name(item.kind())));
    return false;
  }
  if (!call.charge(1, text->size())) return false;
  parts.push_back(Value::text(std::move(*text)).taint(item));
  return true;
}

Value run_join(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  if (call.size() == 2 && call[1].kind() != Kind::Text) return call.expected(1, "a text");
  Items parts;
  for (const Value& item : call[0].items()) {
    if (!parts.empty() && call.size() == 2) parts.push_back(call[1]);
    if (!append_text(call, parts, item)) return {};
  }
  return Value::joined(std::move(parts));
}

Value run_split(const CallFrame& call) {
  for (size_t i = 0; i < 2; i++) {
    if (call[i].kind() != Kind::Text) return call.expected(i, "a text");
  }
  const std::string& text = call[0].as_text();
  const std::string& separator = call[1].as_text();
  if (separator.empty()) return call.fail("the separator is empty");
  Items items;
  for (size_t from = 0; from <= text.size();) {
    size_t to = std::min(text.find(separator, from), text.size());
    items.push_back(Value::text(text.substr(from, to - from)));
    from = to + separator.size();
    if (to == text.size()) break;
  }
  return call.charge(items.size(), text.size()) ? Value::list(std::move(items)) : Value();
}

Value run_has(const CallFrame& call) {
  const Value& whole = call[0];
  if (whole.kind() == Kind::Text) {
    if (call[1].kind() != Kind::Text) return call.expected(1, "a text");
    return Value::boolean(whole.as_text().find(call[1].as_text()) != std::string::npos);
  }
  if (whole.kind() == Kind::Map) {
    if (call[1].kind() != Kind::Text) return call.expected(1, "a text");
    return Value::boolean(whole.entries().contains(call[1].as_text()));
  }
  if (whole.kind() != Kind::List) return call.expected(0, "a text, a list or a map");
  if (!call.charge(whole.items().size(), 0)) return {};
  return Value::boolean(std::any_of(whole.items().begin(), whole.items().end(),
                                    [&](const Value& v) { return equal(v, call[1]); }));
}

Value run_keys(const CallFrame& call) {
  if (call[0].kind() != Kind::Map) return call.expected(0, "a map");
  Items items;
  for (const auto& [key, value] : call[0].entries()) items.push_back(Value::text(key));
  return Value::list(std::move(items));
}

Value run_map(const CallFrame& call) {
  if (call.size() % 2 != 0) return call.fail("map() takes names and values in turn");
  Entries entries;
  for (size_t i = 0; i < call.size(); i += 2) {
    if (call[i].kind() != Kind::Text) return call.expected(i, "a name (a text)");
    if (!entries.emplace(call[i].as_text(), call[i + 1]).second)
      return call.fail(fmt::format("the name '{}' stands there twice", call[i].as_text()));
  }
  return Value::map(std::move(entries));
}

Value run_merge(const CallFrame& call) {
  Entries entries;
  for (size_t i = 0; i < call.size(); i++) {
    if (call[i].kind() != Kind::Map) return call.expected(i, "a map");
    if (!call.charge(call[i].entries().size(), 0)) return {};
    for (const auto& [key, value] : call[i].entries()) entries.insert_or_assign(key, value);
  }
  return Value::map(std::move(entries));
}

Value run_lookup(const CallFrame& call) {
  if (call[0].kind() != Kind::Map) return call.expected(0, "a map");
  if (call[1].kind() != Kind::Text) return call.expected(1, "a text");
  auto found = call[0].entries().find(call[1].as_text());
  return found == call[0].entries().end() ? call[2] : found->second;
}

Value run_sort(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  Items items = call[0].items();
  if (!call.charge(items.size() * 8, 0)) return {};
  bool texts = std::all_of(items.begin(), items.end(), [](const Value& v) { return v.kind() == Kind::Text; });
  bool numbers = std::all_of(items.begin(), items.end(),
                             [](const Value& v) { return v.is_number() && v.unit().empty(); });
  if (!texts && !numbers) return call.expected(0, "a list of texts, or of numbers without unit");
  std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) {
    return texts ? a.as_text() < b.as_text() : a.as_real() < b.as_real();
  });
  return Value::list(std::move(items));
}

Value run_distinct(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  Items kept;
  for (const Value& item : call[0].items()) {
    if (!call.charge(kept.size() + 1, 0)) return {};
    if (std::none_of(kept.begin(), kept.end(), [&](const Value& other) { return equal(item, other); }))
      kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value run_flatten(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  Items items;
  for (const Value& item : call[0].items()) {
    if (item.kind() == Kind::List)
      items.insert(items.end(), item.items().begin(), item.items().end());
    else
      items.push_back(item);
    if (items.size() > kMaxElements && !call.charge(items.size(), 0)) return {};
  }
  return call.charge(items.size(), 0) ? Value::list(std::move(items)) : Value();
}

// ---- texts

// Length in characters: bytes that do not continue a UTF-8 sequence.
int64_t characters(const std::string& text) {
  return std::count_if(text.begin(), text.end(), [](unsigned char c) { return (c & 0xC0) != 0x80; });
}

Value run_length(const CallFrame& call) {
  if (call[0].kind() == Kind::Text) return Value::integer(characters(call[0].as_text()));
  return run_count(call);
}

template <class Change>
Value changed(const CallFrame& call, Change change) {
  if (call[0].kind() != Kind::Text) return call.expected(0, "a text");
  std::string text = call[0].as_text();
  if (!call.charge(0, text.size())) return {};
  change(text);
  return Value::text(std::move(text));
}

// ASCII letters only: the result does not depend on the machine's language.
Value run_upper(const CallFrame& call) {
  return changed(call, [](std::string& text) {
    for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  });
}

Value run_lower(const CallFrame& call) {
  return changed(call, [](std::string& text) {
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
}

Value run_trim(const CallFrame& call) {
  return changed(call, [](std::string& text) {
    const char* blanks = " \t\r\n";
    size_t from = text.find_first_not_of(blanks);
    text = from == text.npos ? std::string() : text.substr(from, text.find_last_not_of(blanks) - from + 1);
  });
}

Value run_replace(const CallFrame& call) {
  for (size_t i = 0; i < 3; i++) {
    if (call[i].kind() != Kind::Text) return call.expected(i, "a text");
  }
  const std::string &text = call[0].as_text(), &from = call[1].as_text(), &to = call[2].as_text();
  if (from.empty()) return call.fail("the text to replace is empty");
  size_t hits = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, at + from.size())) hits++;
  if (!call.charge(hits, text.size() + hits * to.size())) return {};
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(from); at != text.npos; at = text.find(from, done)) {
    result.append(text, done, at - done).append(to);
    done = at + from.size();
  }
  return Value::text(result.append(text, done));
}

Value run_starts_with(const CallFrame& call) {
  for (size_t i = 0; i < 2; i++) {
    if (call[i].kind() != Kind::Text) return call.expected(i, "a text");
  }
  return Value::boolean(call[0].as_text().starts_with(call[1].as_text()));
}

Value run_ends_with(const CallFrame& call) {
  for (size_t i = 0; i < 2; i++) {
    if (call[i].kind() != Kind::Text) return call.expected(i, "a text");
  }
  return Value::boolean(call[0].as_text().ends_with(call[1].as_text()));
}

// `{}` in turn; `{{` and `}}` stand for braces.
Value run_format(const CallFrame& call) {
  if (call[0].kind() != Kind::Text) return call.expected(0, "a text");
  const std::string& pattern = call[0].as_text();
  Items parts;
  std::string text;
  size_t next = 1;
  for (size_t i = 0; i < pattern.size(); i++) {
    std::string_view pair = std::string_view(pattern).substr(i, 2);
    if (pair == "{{" || pair == "}}") {
      text += pair[0];
      i++;
    } else if (pair == "{}") {
      if (next >= call.size())
        return call.fail(fmt::format("the pattern asks for more than {} values", call.size() - 1));
      parts.push_back(Value::text(std::exchange(text, {})));
      if (!append_text(call, parts, call[next++])) return {};
      i++;
    } else if (pattern[i] == '{' || pattern[i] == '}') {
      return call.fail("in a pattern `{}` is a place for a value; write `{{` or `}}` for a brace");
    } else {
      text += pattern[i];
    }
  }
  if (next != call.size())
    return call.fail(
        fmt::format("the pattern has place for {} values, {} are given", next - 1, call.size() - 1));
  parts.push_back(Value::text(std::move(text)));
  return call.charge(parts.size(), pattern.size()) ? Value::joined(std::move(parts)) : Value();
}

// ---- conversions

Value run_text(const CallFrame& call) {
  if (call[0].kind() == Kind::Unknown || call[0].kind() == Kind::Joined) return Value::joined({call[0]});
  auto text = display(call[0]);
  return text ? Value::text(std::move(*text)) : call.expected(0, "something with a text form");
}

Value run_number(const CallFrame& call) {
  if (call[0].is_number()) return call[0];
  if (call[0].kind() != Kind::Text) return call.expected(0, "a text or a number");
  const std::string& text = call[0].as_text();
  size_t used = 0;
  try {
    if (!text.empty() && text.find_first_not_of("-0123456789") == text.npos) {
      long long whole = std::stoll(text, &used);
      if (used == text.size()) return Value::integer(whole);
    } else if (!text.empty() && text.find_first_not_of("-+.eE0123456789") == text.npos) {
      double real = std::stod(text, &used);
      if (used == text.size() && std::isfinite(real)) return Value::real(real);
    }
  } catch (const std::exception&) {
  }
  return call.fail(call[0].sensitive() ? "the text is not a number"
                                       : fmt::format("'{}' is not a number", text));
}

Value run_bytes(const CallFrame& call) {
  if (!call[0].is_number()) return call.expected(0, "a size");
  auto factor = size_factor(call[0].unit());
  if (!factor) return call.expected(0, "a size");
  double bytes = call[0].as_real() * *factor;
  if (std::abs(bytes) > 9e18) return call.fail("the size is too large");
  return Value::integer(static_cast<int64_t>(std::llround(bytes)));
}

Value run_sha256(const CallFrame& call) {
  return changed(call, [](std::string& text) { text = sha256_hex(text); });
}

Value run_base64(const CallFrame& call) {
  return changed(call, [](std::string& text) { text = base64_encode(text); });
}

Value run_json(const CallFrame& call) {
  Emitter emitter(nullptr, "");
  ir::Json json = emitter.emit(call[0]);
  // A secret must not be lost in the text: emit() hid it, so write it from the plain form.
  if (call[0].sensitive()) {
    if (call[0].kind() != Kind::Text)
      return call.fail("json() of a list or map that holds a secret is not possible");
    json = call[0].as_text();
  }
  std::string text = json.dump(-1, ' ', false, ir::Json::error_handler_t::replace);
  return call.charge(0, text.size()) ? Value::text(std::move(text)) : Value();
}

// ---- the world

Value run_env(const CallFrame& call) {
  if (call[0].kind() != Kind::Text) return call.expected(0, "a text");
  if (call.context().world == nullptr) return call.fail("env() cannot be used here");
  if (auto value = call.context().world->variable(call[0].as_text())) return Value::text(std::move(*value));
  if (call.size() == 2) return call[1];
  return call.fail(
      fmt::format("the environment has no variable '{}', and no other value is given", call[0].as_text()));
}

Value run_file(const CallFrame& call) {
  if (call[0].kind() != Kind::Text) return call.expected(0, "a path (a text)");
  if (call.context().world == nullptr) return call.fail("file() cannot be used here");
  auto content = call.context().world->file(call[0].as_text(), call.span());
  if (!content.ok()) return call.fail(content.status().text());
  return call.charge(0, content->size()) ? Value::text(std::move(*content)) : Value();
}

constexpr size_t kAny = 1000;

constexpr Function kFunctions[] = {
    {{"abs", "number", "The number without its sign.", "abs(-3) -> 3"}, 1, 1, false, run_abs},
    {{"base64", "text", "The text's bytes in base64.", "base64('radl') -> 'cmFkbA=='"},
     1,
     1,
     false,
     run_base64},
    {{"bytes", "size", "A size as a whole number of bytes.", "bytes(2K) -> 2000"}, 1, 1, false, run_bytes},
    {{"ceil", "number", "The least whole number that is not smaller.", "ceil(2.1) -> 3"},
     1,
     1,
     false,
     run_ceil},
    {{"has", "whole, part", "Whether a text has a part, a list an element, a map a name.",
      "has(['a', 'b'], 'a') -> true"},
     2,
     2,
     false,
     run_has},
    {{"count", "list, map or system", "How many elements, entries or machines.", "count([1, 2]) -> 2"},
     1,
     1,
     true,
     run_count},
    {{"distinct", "list", "Each element once, at its first place.", "distinct([1, 2, 1]) -> [1, 2]"},
     1,
     1,
     false,
     run_distinct},
    {{"ends_with", "text, end", "Whether the text ends so.", "ends_with('a.yml', '.yml') -> true"},
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
    {{"floor", "number", "The greatest whole number that is not larger.", "floor(2.9) -> 2"},
     1,
     1,
     false,
     run_floor},
    {{"format", "pattern, values", "The pattern with each `{}` replaced by a value.",
      "format('{}:{}', 'a', 80) -> 'a:80'"},
     1,
     kAny,
     true,
     run_format},
    {{"join", "list, separator", "The elements put together as one text.", "join(['a', 'b'], '-') -> 'a-b'"},
     1,
     2,
     true,
     run_join},
    {{"json", "value", "The value as a JSON text.", "json([1, 'a']) -> '[1,\"a\"]'"}, 1, 1, false, run_json},
    {{"keys", "map", "The names of a map, sorted.", "keys(map('a', 1)) -> ['a']"}, 1, 1, true, run_keys},
    {{"length", "text, list or map", "How many characters, elements or entries.", "length('radl') -> 4"},
     1,
     1,
     true,
     run_length},
    {{"lookup", "map, name, otherwise", "The entry of that name, or the other value.",
      "lookup(map('a', 1), 'b', 0) -> 0"},
     3,
     3,
     true,
     run_lookup},
    {{"lower", "text", "A to Z as a to z.", "lower('RADL') -> 'radl'"}, 1, 1, false, run_lower},
    {{"map", "name, value, ...", "A map of names and values given in turn.",
      "lookup(map('a', 1), 'a', 0) -> 1"},
     0,
     kAny,
     true,
     run_map},
    {{"max", "numbers or list", "The greatest.", "max(1, 3, 2) -> 3"}, 1, kAny, false, run_max},
    {{"merge", "maps", "All entries; later maps win.",
      "lookup(merge(map('a', 1), map('a', 2)), 'a', 0) -> 2"},
     1,
     kAny,
     true,
     run_merge},
    {{"min", "numbers or list", "The least.", "min([3, 2]) -> 2"}, 1, kAny, false, run_min},
    {{"number", "text", "The number that the text is.", "number('2.5') -> 2.5"}, 1, 1, false, run_number},
    {{"range", "from, to", "The whole numbers from `from` (or 0) up to, not with, `to`.",
      "range(3) -> [0, 1, 2]"},
     1,
     2,
     false,
     run_range},
    {{"replace", "text, part, by", "Every occurrence of a part replaced.",
      "replace('a.b', '.', '-') -> 'a-b'"},
     3,
     3,
     false,
     run_replace},
    {{"round", "number", "The nearest whole number; halves go away from zero.", "round(2.5) -> 3"},
     1,
     1,
     false,
     run_round},
    {{"sha256", "text", "The digest of the text's bytes, in hexadecimal digits.", "length(sha256('')) -> 64"},
     1,
     1,
     false,
     run_sha256},
    {{"sort", "list", "Texts by their bytes, numbers by value.", "sort([2, 1]) -> [1, 2]"},
     1,
     1,
     false,
     run_sort},
    {{"split", "text, separator", "The parts between separators.", "split('a,b', ',') -> ['a', 'b']"},
     2,
     2,
     false,
     run_split},
    {{"starts_with", "text, start", "Whether the text begins so.", "starts_with('ami-1', 'ami-') -> true"},
     2,
     2,
     false,
     run_starts_with},
    {{"text", "value", "The value as it stands in a text.", "text(1.5) -> '1.5'"}, 1, 1, true, run_text},
    {{"trim", "text", "Without blanks and line ends around it.", "trim(' a ') -> 'a'"},
     1,
     1,
     false,
     run_trim},
    {{"upper", "text", "a to z as A to Z.", "upper('radl') -> 'RADL'"}, 1, 1, false, run_upper},
};

}  // namespace

std::span<const Function> function_table() { return kFunctions; }

const Function* find_function(std::string_view name) {
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

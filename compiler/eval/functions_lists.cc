// Functions of lists and maps.
#include <fmt/format.h>

#include <algorithm>

#include "common/text.h"
#include "compiler/eval/function_runs.h"
#include "compiler/eval/secret_access.h"

namespace radl::expr {

// The elements' texts; nullopt after a report if one has no text form.
bool append_text(const CallFrame& call, Items& parts, const Value& item) {
  if (item.kind() == Kind::Unknown || item.kind() == Kind::Joined) {
    parts.push_back(item);
    return true;
  }
  auto text = display(item, kPermitted);
  if (!text) {
    call.fail(fmt::format("{} has no string form", kind_name(item.kind())));
    return false;
  }
  if (!call.charge(1, text->size())) return false;
  parts.push_back(Value::string(std::move(*text)).taint(item));
  return true;
}

Value run_count(const CallFrame& call) {
  const Value& value = call[0];
  // Counts the nodes of several systems, as for one: an input of type `systems` accepts both.
  if (value.kind() == Kind::List && !value.items().empty() &&
      std::all_of(value.items().begin(), value.items().end(),
                  [](const Value& item) { return item.kind() == Kind::System; })) {
    int64_t nodes = 0;
    for (const Value& system : value.items()) {
      auto count = call.context().systems->count(system.as_text(), call.span());
      if (!count) return Value();
      nodes += *count;
    }
    return Value::integer(nodes);
  }
  if (value.kind() == Kind::List) return Value::integer(static_cast<int64_t>(value.items().size()));
  if (value.kind() == Kind::Map) return Value::integer(static_cast<int64_t>(value.entries().size()));
  if (value.kind() != Kind::System) return call.expected(0, "a list, a map or a system");
  auto count = call.context().systems->count(value.as_text(), call.span());
  return count ? Value::integer(*count) : Value();
}

Value run_range(const CallFrame& call) {
  for (size_t i = 0; i < call.size(); i++) {
    if (call[i].kind() != Kind::Integer || !call[i].unit().empty()) return call.expected(i, "an integer");
  }
  if (call[0].sensitive() || call[call.size() - 1].sensitive()) {
    call.context().diagnostics->report(DiagCode::SecretShown, call.span(),
                                       "how long a list is is shown in plans: it cannot be a secret");
    return Value().mark_sensitive();
  }
  int64_t from = call.size() == 2 ? call[0].as_integer(kPermitted) : 0,
          to = call[call.size() - 1].as_integer(kPermitted);
  if (to <= from) return Value::list({});
  uint64_t size = static_cast<uint64_t>(to) - static_cast<uint64_t>(from);
  if (!call.charge(size, 0)) return {};
  Items items;
  for (int64_t i = from; i < to; i++) items.push_back(Value::integer(i));
  return Value::list(std::move(items));
}

Value run_join(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  if (call.size() == 2 && call[1].kind() != Kind::String) return call.expected(1, "a string");
  Items parts;
  for (const Value& item : call[0].items()) {
    if (!parts.empty() && call.size() == 2) parts.push_back(call[1]);
    if (!append_text(call, parts, item)) return {};
  }
  return Value::joined(std::move(parts));
}

Value run_split(const CallFrame& call) {
  for (size_t i = 0; i < 2; i++) {
    if (call[i].kind() != Kind::String) return call.expected(i, "a string");
  }
  const std::string& text = call[0].as_text(kPermitted);
  const std::string& separator = call[1].as_text(kPermitted);
  if (separator.empty()) return call.fail("the separator is empty");
  Items items;
  for (size_t from = 0; from <= text.size();) {
    size_t to = std::min(text.find(separator, from), text.size());
    items.push_back(Value::string(text.substr(from, to - from)));
    from = to + separator.size();
    if (to == text.size()) break;
  }
  return call.charge(items.size(), text.size()) ? Value::list(std::move(items)) : Value();
}

namespace {

// Checks for example that a module has this output. nullopt after a report.
std::optional<bool> has_member(const CallFrame& call) {
  const Namespace& space = *call[0].space();
  if (call[1].kind() != Kind::String) {
    call.expected(1, "a string");
    return std::nullopt;
  }
  Diagnostics& diagnostics = *call.context().diagnostics;
  if (call[1].sensitive()) {
    diagnostics.report(DiagCode::SecretShown, call.span(1),
                       "a name is shown in plans: it cannot be a secret");
    return std::nullopt;
  }
  if (!space.complete(call.span())) return std::nullopt;
  const std::string& name = call[1].as_text();
  const std::vector<std::string> names = space.names();
  if (std::find(names.begin(), names.end(), name) != names.end()) return true;
  if (space.open() || !space.absence(name).empty()) return false;
  if (space.member(name, call.span())) return std::nullopt;  // its declaration could not be read
  auto& report = diagnostics.report(DiagCode::UnknownMember, call.span(1),
                                    fmt::format("there is no {} named '{}'", space.what(), name));
  if (std::string near = nearest(name, names); !near.empty())
    report.with_help(fmt::format("did you mean '{}'?", near));
  return std::nullopt;
}

}  // namespace

Value run_has(const CallFrame& call) {
  const Value& whole = call[0];
  if (whole.kind() == Kind::Namespace) {
    const std::optional<bool> there = has_member(call);
    return there ? Value::boolean(*there) : Value();
  }
  if (whole.kind() == Kind::String) {
    if (call[1].kind() != Kind::String) return call.expected(1, "a string");
    return Value::boolean(whole.as_text(kPermitted).find(call[1].as_text(kPermitted)) != std::string::npos);
  }
  if (whole.kind() == Kind::Map) {
    if (call[1].kind() != Kind::String) return call.expected(1, "a string");
    return Value::boolean(whole.entries().contains(call[1].as_text(kPermitted)));
  }
  if (whole.kind() != Kind::List) return call.expected(0, "a string, a list, a map or a module");
  if (!call.charge(whole.items().size(), 0)) return {};
  return Value::boolean(std::any_of(whole.items().begin(), whole.items().end(),
                                    [&](const Value& v) { return equal(v, call[1], kPermitted); }));
}

Value run_keys(const CallFrame& call) {
  if (call[0].kind() != Kind::Map) return call.expected(0, "a map");
  Items items;
  for (const auto& [key, value] : call[0].entries()) items.push_back(Value::string(key));
  return Value::list(std::move(items));
}

Value run_map(const CallFrame& call) {
  if (call.size() % 2 != 0) return call.fail("map() takes names and values in turn");
  Entries entries;
  for (size_t i = 0; i < call.size(); i += 2) {
    if (call[i].kind() != Kind::String) return call.expected(i, "a name (a string)");
    if (call[i].sensitive())
      return call.fail("the names of a map are shown in plans: they cannot be secrets");
    if (!entries.emplace(call[i].as_text(), call[i + 1]).second)
      return call.fail(fmt::format("the name '{}' is a duplicate", call[i].as_text()));
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
  if (call[0].kind() == Kind::Namespace) {
    const std::optional<bool> there = has_member(call);
    if (!there) return {};
    return *there ? call[0].space()->member(call[1].as_text(), call.span()).value_or(Value()) : call[2];
  }
  if (call[0].kind() != Kind::Map) return call.expected(0, "a map or a module");
  if (call[1].kind() != Kind::String) return call.expected(1, "a string");
  auto found = call[0].entries().find(call[1].as_text(kPermitted));
  return found == call[0].entries().end() ? call[2] : found->second;
}

Value run_sort(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  Items items = call[0].items();
  if (!call.charge(items.size() * 8, 0)) return {};
  bool texts =
      std::all_of(items.begin(), items.end(), [](const Value& v) { return v.kind() == Kind::String; });
  bool numbers = std::all_of(items.begin(), items.end(),
                             [](const Value& v) { return v.is_number() && v.unit().empty(); });
  if (!texts && !numbers) return call.expected(0, "a list of strings, or of numbers without unit");
  std::stable_sort(items.begin(), items.end(), [&](const Value& a, const Value& b) {
    if (texts) return a.as_text(kPermitted) < b.as_text(kPermitted);
    return compare_numbers(a, 1, b, 1, kPermitted) < 0;
  });
  return Value::list(std::move(items));
}

Value run_distinct(const CallFrame& call) {
  if (call[0].kind() != Kind::List) return call.expected(0, "a list");
  Items kept;
  for (const Value& item : call[0].items()) {
    if (!call.charge(kept.size() + 1, 0)) return {};
    if (std::none_of(kept.begin(), kept.end(),
                     [&](const Value& other) { return equal(item, other, kPermitted); }))
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

}  // namespace radl::expr

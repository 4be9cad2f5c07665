#include "compiler/compat/yaml/yaml_value.h"

#include <iterator>
#include <map>
#include <set>

namespace radl::ec3 {
namespace {

using Kind = Yaml::Kind;

bool is_number(const Yaml& value) {
  return value.is(Kind::Integer) || value.is(Kind::Float) || value.is(Kind::Bool);
}

double number_of(const Yaml& value) {
  if (value.is(Kind::Bool)) return value.boolean ? 1 : 0;
  return value.is(Kind::Float) ? value.real : std::strtod(value.text.c_str(), nullptr);
}

// Compares two values; pairs that are known to be equal (or are being compared) are not entered again, so
// that aliases of aliases cost what they are written with.
class Comparison {
 public:
  bool same(const YamlPtr& a, const YamlPtr& b) {
    if (a == b) return true;
    if (is_number(*a) && is_number(*b)) {
      if (a->is(Kind::Integer) && b->is(Kind::Integer)) return a->text == b->text;
      return number_of(*a) == number_of(*b);
    }
    if (a->kind != b->kind || a->tag != b->tag) return false;
    if (a->is(Kind::String) || a->is(Kind::Other)) return a->text == b->text;
    if (a->is(Kind::Null)) return true;
    if (!entered_.insert({a.get(), b.get()}).second) return true;
    return a->is(Kind::List) ? same_lists(*a, *b) : same_maps(*a, *b);
  }

 private:
  bool same_lists(const Yaml& a, const Yaml& b) {
    if (a.items.size() != b.items.size()) return false;
    for (size_t i = 0; i < a.items.size(); ++i)
      if (!same(a.items[i], b.items[i])) return false;
    return true;
  }

  bool same_maps(const Yaml& a, const Yaml& b) {
    if (a.entries.size() != b.entries.size()) return false;
    std::map<std::string_view, const YamlPtr*> by_text;
    for (const auto& [key, value] : b.entries)
      if (key->is(Kind::String)) by_text[key->text] = &value;
    for (const auto& [key, value] : a.entries) {
      if (key->is(Kind::String)) {
        auto at = by_text.find(key->text);
        if (at == by_text.end() || !same(value, *at->second)) return false;
        continue;
      }
      bool found = false;
      for (const auto& [other, there] : b.entries) found = found || (same(key, other) && same(value, there));
      if (!found) return false;
    }
    return true;
  }

  std::set<std::pair<const Yaml*, const Yaml*>> entered_;
};

YamlPtr copy(const YamlPtr& value, std::map<const Yaml*, YamlPtr>& made) {
  auto [at, fresh] = made.emplace(value.get(), nullptr);
  if (!fresh) return at->second;
  YamlPtr out = std::make_shared<Yaml>(*value);
  made[value.get()] = out;
  for (YamlPtr& item : out->items) item = copy(item, made);
  for (auto& [key, each] : out->entries) each = copy(each, made);
  return out;
}

// `open`: the collections that contain the value; `done`: those known not to contain themselves.
bool finds_itself(const Yaml* value, std::set<const Yaml*>& open, std::set<const Yaml*>& done) {
  if (done.contains(value) || (value->items.empty() && value->entries.empty())) return false;
  if (!open.insert(value).second) return true;
  for (const YamlPtr& item : value->items)
    if (finds_itself(item.get(), open, done)) return true;
  for (const auto& entry : value->entries)
    if (finds_itself(entry.second.get(), open, done)) return true;
  open.erase(value);
  done.insert(value);
  return false;
}

}  // namespace

YamlPtr Yaml::of(Kind kind) {
  YamlPtr made = std::make_shared<Yaml>();
  made->kind = kind;
  return made;
}

YamlPtr Yaml::string(std::string_view text) {
  YamlPtr made = of(Kind::String);
  made->text = std::string(text);
  return made;
}

YamlPtr Yaml::integer(std::string digits) {
  YamlPtr made = of(Kind::Integer);
  made->text = std::move(digits);
  return made;
}

YamlPtr Yaml::real_number(double value) {
  YamlPtr made = of(Kind::Float);
  made->real = value;
  return made;
}

YamlPtr Yaml::boolean_value(bool value) {
  YamlPtr made = of(Kind::Bool);
  made->boolean = value;
  return made;
}

bool Yaml::empty() const {
  if (is(Kind::Bool)) return !boolean;
  if (is(Kind::Float)) return real == 0;
  if (is(Kind::Integer)) return text == "0";
  return !is(Kind::Other) && text.empty() && items.empty() && entries.empty();
}

YamlPtr Yaml::find(std::string_view key) const {
  for (const auto& [each, value] : entries)
    if (each->is(Kind::String) && each->text == key) return value;
  return nullptr;
}

void Yaml::set(std::string_view key, YamlPtr value) {
  for (auto& [each, there] : entries) {
    if (!each->is(Kind::String) || each->text != key) continue;
    there = std::move(value);
    return;
  }
  entries.emplace_back(string(key), std::move(value));
}

void Yaml::erase(std::string_view key) {
  std::erase_if(entries,
                [&](const auto& entry) { return entry.first->is(Kind::String) && entry.first->text == key; });
}

bool same_yaml(const YamlPtr& a, const YamlPtr& b) { return Comparison().same(a, b); }

bool contains_itself(const YamlPtr& value) {
  std::set<const Yaml*> open, done;
  return finds_itself(value.get(), open, done);
}

void release(const YamlPtr& value) {
  std::vector<YamlPtr> left = {value};
  while (!left.empty()) {
    YamlPtr at = std::move(left.back());
    left.pop_back();
    std::move(at->items.begin(), at->items.end(), std::back_inserter(left));
    for (auto& entry : at->entries) left.push_back(std::move(entry.second));
    at->items.clear();
    at->entries.clear();
  }
}

YamlPtr copy_yaml(const YamlPtr& value) {
  std::map<const Yaml*, YamlPtr> made;
  return copy(value, made);
}

}  // namespace radl::ec3

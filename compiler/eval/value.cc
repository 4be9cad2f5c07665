#include "compiler/eval/value.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <nlohmann/json.hpp>

#include "compiler/eval/secret_access.h"
#include "compiler/eval/units.h"

namespace radl::expr {

const std::string Value::kNothing;

std::string_view kind_name(Kind kind) {
  static constexpr std::string_view names[] = {"an error",
                                               "nothing",
                                               "a boolean",
                                               "an integer",
                                               "a number",
                                               "a string",
                                               "a value known only after apply",
                                               "a string known only after apply",
                                               "a list",
                                               "a map",
                                               "a system",
                                               "a node",
                                               "a group of names"};
  static_assert(std::size(names) == static_cast<size_t>(Kind::Namespace) + 1);
  return names[static_cast<size_t>(kind)];
}

Value Value::null() { return Value(Kind::Null); }

Value Value::boolean(bool value) {
  Value made(Kind::Boolean);
  made.integer_ = value;
  return made;
}

Value Value::integer(int64_t value, std::string unit) {
  Value made(Kind::Integer);
  made.integer_ = value;
  made.unit_ = std::move(unit);
  return made;
}

Value Value::real(double value, std::string unit) {
  Value made(Kind::Real);
  made.real_ = value;
  made.unit_ = std::move(unit);
  return made;
}

Value Value::string(std::string value) {
  Value made(Kind::String);
  made.text_ = std::move(value);
  return made;
}

Value Value::unknown(std::string attribute) {
  Value made(Kind::Unknown);
  made.unknown_ = true;
  made.text_ = std::move(attribute);
  return made;
}

namespace {

// Neighbours that are known, and neither or both secret, become one part.
void add_part(Items& parts, const Value& part) {
  if (part.kind() == Kind::Joined) {
    for (const Value& inner : part.items()) add_part(parts, inner);
    return;
  }
  bool merge = !parts.empty() && parts.back().kind() == Kind::String && part.kind() == Kind::String &&
               parts.back().sensitive() == part.sensitive();
  if (!merge) {
    parts.push_back(part);
    return;
  }
  bool sensitive = part.sensitive();
  parts.back() = Value::string(parts.back().as_text(kPermitted) + part.as_text(kPermitted));
  if (sensitive) parts.back().mark_sensitive();
}

}  // namespace

Value Value::joined(Items parts) {
  Items merged;
  bool unknown = false;
  for (const Value& part : parts) add_part(merged, part);
  for (const Value& part : merged) unknown = unknown || part.kind() == Kind::Unknown;
  if (merged.empty()) return string("");
  if (merged.size() == 1 && merged[0].kind() == Kind::String) return merged[0];
  if (!unknown) {
    // Known text, partly secret: all of it is.
    Value whole = string("");
    for (const Value& part : merged) whole.text_ += part.text_;
    return whole.mark_sensitive();
  }
  Value made(Kind::Joined);
  for (const Value& part : merged) made.count(part);
  made.items_ = std::make_shared<const Items>(std::move(merged));
  return made;
}

Value Value::list(Items items) {
  Value made(Kind::List);
  for (const Value& item : items) made.count(item);
  made.items_ = std::make_shared<const Items>(std::move(items));
  return std::move(made).within_limits();
}

Value Value::map(Entries entries) {
  Value made(Kind::Map);
  for (const auto& [key, value] : entries) made.count(value);
  made.entries_ = std::make_shared<const Entries>(std::move(entries));
  return std::move(made).within_limits();
}

Value Value::within_limits() && {
  Value excess;
  if (depth_ > kMaxValueDepth)
    excess.excess_ = Excess::Depth;
  else if (weight_ > kMaxWeight)
    excess.excess_ = Excess::Weight;
  else
    return std::move(*this);
  return sensitive_ ? excess.mark_sensitive() : excess;
}

Value Value::system(std::string name) {
  Value made(Kind::System);
  made.text_ = std::move(name);
  return made;
}

Value Value::node(std::string system, int ordinal) {
  Value made(Kind::Node);
  made.text_ = std::move(system);
  made.integer_ = ordinal;
  return made;
}

Value Value::space(const Namespace* space) {
  Value made(Kind::Namespace);
  made.space_ = space;
  return made;
}

const Items& Value::items() const {
  assert(items_ != nullptr);
  return *items_;
}

const Entries& Value::entries() const {
  assert(entries_ != nullptr);
  return *entries_;
}

// Takes over what a list, map or joined string knows of each of its parts.
void Value::count(const Value& part) {
  sensitive_ = sensitive_ || part.sensitive_;
  unknown_ = unknown_ || part.unknown_;
  depth_ = std::max(depth_, static_cast<uint16_t>(std::min(part.depth_ + 1, 60'000)));
  weight_ = weight_ + part.weight_ < weight_ ? UINT32_MAX : weight_ + part.weight_;
}

Value& Value::mark_sensitive(std::string name) {
  sensitive_ = true;
  secret_ = std::move(name);
  // What is taken out of a secret list is a secret too.
  if (kind_ == Kind::List || kind_ == Kind::Joined) {
    Items marked = *items_;
    for (Value& item : marked) item.mark_sensitive();
    items_ = std::make_shared<const Items>(std::move(marked));
  } else if (kind_ == Kind::Map) {
    Entries marked = *entries_;
    for (auto& [key, value] : marked) value.mark_sensitive();
    entries_ = std::make_shared<const Entries>(std::move(marked));
  }
  return *this;
}

Value& Value::taint(const Value& from) { return from.sensitive_ ? mark_sensitive() : *this; }

int compare_numbers(const Value& a, double scale_a, const Value& b, double scale_b, Permission permission) {
  auto order = [](auto x, auto y) { return x < y ? -1 : x > y; };
  auto whole = [](const Value& value, double scale) {
    return value.kind() == Kind::Integer && scale == std::floor(scale);
  };
  if (whole(a, scale_a) && whole(b, scale_b))
    return order(static_cast<__int128>(a.as_integer(permission)) * static_cast<int64_t>(scale_a),
                 static_cast<__int128>(b.as_integer(permission)) * static_cast<int64_t>(scale_b));
  if (scale_a != scale_b) return order(a.as_real(permission) * scale_a, b.as_real(permission) * scale_b);
  auto exact = [&](const Value& value) -> long double {  // 64 bits of it and more
    if (value.kind() == Kind::Integer) return static_cast<long double>(value.as_integer(permission));
    return value.as_real(permission);
  };
  return order(exact(a), exact(b));
}

bool equal(const Value& a, const Value& b, Permission permission) {
  if (a.is_number() && b.is_number()) {
    auto common = common_unit(a.unit(), b.unit());
    if (!common) return false;
    return compare_numbers(a, common->left, b, common->right, permission) == 0;
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::Boolean:
      return a.as_boolean(permission) == b.as_boolean(permission);
    case Kind::String:
    case Kind::System:
      return a.as_text(permission) == b.as_text(permission);
    case Kind::Node:
      return a.as_text(permission) == b.as_text(permission) &&
             a.as_integer(permission) == b.as_integer(permission);
    case Kind::Null:
      return true;
    case Kind::List:
      if (a.items().size() != b.items().size()) return false;
      for (size_t i = 0; i < a.items().size(); i++) {
        if (!equal(a.items()[i], b.items()[i], permission)) return false;
      }
      return true;
    case Kind::Map:
      if (a.entries().size() != b.entries().size()) return false;
      for (auto left = a.entries().begin(), right = b.entries().begin(); left != a.entries().end();
           ++left, ++right) {
        if (left->first != right->first || !equal(left->second, right->second, permission)) return false;
      }
      return true;
    default:
      return false;
  }
}

namespace {

ir::Json plain_json(const Value& value, Permission permission) {
  switch (value.kind()) {
    case Kind::Boolean:
      return value.as_boolean(permission);
    case Kind::Integer:
      return value.unit().empty() ? ir::Json(value.as_integer(permission))
                                  : ir::Json(*display(value, permission));
    case Kind::Real:
      return value.unit().empty() ? ir::Json(value.as_real(permission))
                                  : ir::Json(*display(value, permission));
    case Kind::String:
      return value.as_text(permission);
    case Kind::Node:
      return fmt::format("{}[{}]", value.as_text(permission), value.as_integer(permission));
    case Kind::System:
      return value.as_text(permission);
    case Kind::List: {
      ir::Json array = ir::Json::array();
      for (const Value& item : value.items()) array.push_back(plain_json(item, permission));
      return array;
    }
    case Kind::Map: {
      ir::Json object = ir::Json::object();
      for (const auto& [key, inner] : value.entries()) object[key] = plain_json(inner, permission);
      return object;
    }
    default:
      return nullptr;
  }
}

}  // namespace

std::string json_text(const Value& value, Permission permission) {
  return plain_json(value, permission).dump(-1, ' ', false, ir::Json::error_handler_t::replace);
}

std::optional<std::string> display(const Value& value) {
  return value.sensitive() ? std::nullopt : display(value, kPermitted);
}

std::optional<std::string> display(const Value& value, Permission permission) {
  switch (value.kind()) {
    case Kind::Boolean:
      return value.as_boolean(permission) ? "true" : "false";
    case Kind::Integer:
      return fmt::format("{}{}", value.as_integer(permission), value.unit());
    case Kind::Real:
      return fmt::format("{}{}", value.as_real(permission), value.unit());
    case Kind::String:
      return value.as_text(permission);
    case Kind::Node:
      return fmt::format("{}[{}]", value.as_text(permission), value.as_integer(permission));
    case Kind::List:
    case Kind::Map:
      if (value.has_unknown()) return std::nullopt;
      return json_text(value, permission);
    default:
      return std::nullopt;
  }
}

std::optional<Value> as_string(const Value& value) {
  auto text = display(value, kPermitted);
  return text ? std::optional(Value::string(std::move(*text)).taint(value)) : std::nullopt;
}

ir::Json Emitter::hide(const Value& value, const std::string& text) {
  std::string name = value.secret_name();
  if (name.empty()) name = made_++ == 0 ? place_ : fmt::format("{}#{}", place_, made_);
  if (secrets_ != nullptr) (*secrets_)[name] = text;
  return ir::secret(name);
}

ir::Json Emitter::emit(const Value& value) {
  switch (value.kind()) {
    case Kind::Unknown:
      return ir::unknown(value.as_text());
    case Kind::Joined: {
      ir::Json parts = ir::Json::array();
      for (const Value& part : value.items()) parts.push_back(emit(part));
      return ir::Json{{"$join", std::move(parts)}};
    }
    case Kind::List: {
      ir::Json array = ir::Json::array();
      for (const Value& item : value.items()) array.push_back(emit(item));
      return array;
    }
    case Kind::Map: {
      ir::Json object = ir::Json::object();
      for (const auto& [key, inner] : value.entries()) object[key] = emit(inner);
      return object;
    }
    case Kind::System: {
      if (!nodes_of_) return value.as_text();
      return nodes_of_(value.as_text());
    }
    default:
      break;
  }
  if (value.sensitive()) return hide(value, display(value, kPermitted).value_or(""));
  return plain_json(value, kPermitted);
}

}  // namespace radl::expr

#include "compiler/passes/requirements.h"

#include <fmt/format.h>

#include <cmath>

#include "common/digest.h"
#include "compiler/expr/units.h"
#include "compiler/sema/features.h"

namespace radl::passes {

bool is_secret_feature(std::string_view name) {
  return sema::is_secret_name(name) || name == "proxy_host";  // user:password@host
}

std::string_view literal_text(const ast::Expr* value) {
  auto* text = ast::as<ast::String>(value);
  return text == nullptr ? std::string_view() : text->text;
}

namespace {

double base(const ast::Number& number) {
  return number.real * expr::size_factor(number.unit.text).value_or(1);
}

ir::Json number_json(const ast::Number& number) {
  double value = base(number);
  // Integers stay integers as long as they are exact.
  if (!number.is_float && std::abs(value) < 9007199254740992.0)
    return static_cast<int64_t>(std::llround(value));
  return value;
}

// Letters and digits, as the reference makes them: a password for a node that does not exist yet.
std::string random_text(int length) {
  static constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string text;
  while (static_cast<int>(text.size()) < length) {
    unsigned char byte = static_cast<unsigned char>(random_bytes(1)[0]);
    if (byte < 248) text += kLetters[byte % 62];  // 248 = 4 * 62: no letter is likelier
  }
  return text;
}

std::string decoded(const ast::Expr& value) {
  if (auto* random = ast::as<ast::Random>(&value)) return random_text(random->length);
  return std::string(literal_text(&value));
}

}  // namespace

ir::Json literal_json(Build& build, const ast::Expr& value, std::string_view feature,
                      const std::string& place) {
  auto marked = build.secret_values.find(&value);
  bool text = value.kind == ast::Kind::String || value.kind == ast::Kind::Random;
  if (marked != build.secret_values.end() || (text && is_secret_feature(feature)) ||
      value.kind == ast::Kind::Random) {
    std::string name = marked != build.secret_values.end() && !marked->second.empty()
                           ? marked->second
                           : fmt::format("{}.{}", place, feature);
    // The same feature written twice with the same value is one secret; a random one is made once.
    if (!build.secrets.contains(name)) {
      auto* number = ast::as<ast::Number>(&value);
      build.secrets[name] = number != nullptr ? std::string(number->digits) : decoded(value);
    }
    return ir::secret(name);
  }
  if (auto* number = ast::as<ast::Number>(&value)) return number_json(*number);
  if (text) return std::string(literal_text(&value));
  if (auto* list = ast::as<ast::ListValue>(&value)) {
    ir::Json array = ir::Json::array();
    for (const ast::Expr* item : list->items) array.push_back(literal_json(build, *item, feature, place));
    return array;
  }
  if (auto* reference = ast::as<ast::Ec3Reference>(&value)) {
    return fmt::format("{} {}", reference->target_kind.text, reference->target.text);
  }
  return nullptr;
}

namespace {

void number_requirement(ir::Requirement& requirement, const sema::Merged& merged) {
  auto take = [&](const sema::Bound& bound, std::optional<double>& end, bool& strict) {
    if (bound.number == nullptr) return;
    end = base(*bound.number);
    strict = bound.from != nullptr && (bound.from->op == ast::Op::Lt || bound.from->op == ast::Op::Gt);
    if (!expr::size_factor(bound.number->unit.text)) requirement.unit = std::string(bound.number->unit.text);
  };
  take(merged.lower, requirement.min, requirement.min_strict);
  take(merged.upper, requirement.max, requirement.max_strict);
  bool equal = merged.lower.from != nullptr && merged.lower.from == merged.upper.from &&
               merged.lower.from->op == ast::Op::Eq;
  if (equal) requirement.equals = number_json(*merged.lower.number);
}

ir::Json group_json(Build& build, const sema::FeatureSet& group, const std::string& place) {
  ir::Json object = ir::Json::object();
  for (const sema::Merged& merged : group.items) {
    std::string name(merged.name());
    if (merged.kind == sema::Merged::Kind::Value)
      object[name] = literal_json(build, *merged.value, name, place);
    if (merged.kind == sema::Merged::Kind::Number && merged.lower.number != nullptr)
      object[name] = number_json(*merged.lower.number);
    for (const sema::FeatureSet& inner : merged.groups)
      object[name].push_back(group_json(build, inner, place));
  }
  return object;
}

std::string_view comparator(ast::Op op) {
  switch (op) {
    case ast::Op::Lt:
      return "<";
    case ast::Op::Gt:
      return ">";
    case ast::Op::Le:
      return "<=";
    case ast::Op::Ge:
      return ">=";
    default:
      return "=";
  }
}

ir::Requirement requirement_of(Build& build, const sema::Merged& merged, const std::string& place) {
  ir::Requirement requirement;
  switch (merged.kind) {
    case sema::Merged::Kind::Number:
      if (merged.lower.number != nullptr && build.secret_values.contains(merged.lower.number)) {
        requirement.equals = literal_json(build, *merged.lower.number, merged.name(), place);
      } else {
        number_requirement(requirement, merged);
      }
      break;
    case sema::Merged::Kind::Value:
      if (merged.first->op != ast::Op::Eq && merged.value->kind == ast::Kind::String) {
        requirement.versions[std::string(comparator(merged.first->op))] =
            std::string(literal_text(merged.value));
      } else {
        requirement.equals = literal_json(build, *merged.value, merged.name(), place);
      }
      break;
    case sema::Merged::Kind::Groups:
      requirement.equals = ir::Json::array();
      for (const sema::FeatureSet& group : merged.groups)
        requirement.equals->push_back(group_json(build, group, fmt::format("{}.{}", place, merged.name())));
      break;
    case sema::Merged::Kind::Set:
      if (!build.document.partial) {
        requirement.equals = sema::joined(merged);
        break;
      }
      requirement.equals = ir::Json::array();
      for (const ast::Expr* value : merged.set)
        requirement.equals->push_back(literal_json(build, *value, merged.name(), place));
      break;
    case sema::Merged::Kind::Unknown:
      break;
  }
  return requirement;
}

}  // namespace

std::map<std::string, ir::Requirement> requirements_of(Build& build, const sema::FeatureSet& features,
                                                       const std::string& place) {
  std::map<std::string, ir::Requirement> requirements;
  for (const sema::Merged& merged : features.items)
    requirements[std::string(merged.name())] = requirement_of(build, merged, place);
  return requirements;
}

}  // namespace radl::passes

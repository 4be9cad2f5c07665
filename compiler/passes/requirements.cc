#include "compiler/passes/requirements.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/digest.h"
#include "common/text.h"
#include "compiler/check/features.h"
#include "compiler/eval/secret_access.h"
#include "compiler/eval/units.h"

namespace radl::passes {

bool is_secret_feature(std::string_view name) {
  return sema::is_secret_name(name) || name == "proxy_host";  // user:password@host
}

namespace {

double base(const hir::Number& number) {
  return number.real * expr::size_factor(number.unit.text).value_or(1);
}

ir::Json number_json(const hir::Number& number) {
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

// The content of a secret, for the single map that stores it.
std::string secret_content(const hir::Value& content) {
  if (content.kind() == hir::Kind::Random) return random_text(content.random_length());
  return std::string(content.text().value_or(""));
}

}  // namespace

ir::Json value_json(Build& build, const hir::Value& value, std::string_view feature,
                    const std::string& place) {
  bool text = value.kind() == hir::Kind::Text || value.kind() == hir::Kind::Random;
  if (value.sensitive() || (text && is_secret_feature(feature)) || value.kind() == hir::Kind::Random) {
    std::string name(value.secret_name());
    if (name.empty()) name = fmt::format("{}.{}", place, feature);
    // A feature written twice with the same value is one secret; a random value is generated once.
    if (!build.secrets.contains(name)) build.secrets[name] = secret_content(value.content(expr::kPermitted));
    return ir::secret(name);
  }
  if (auto* number = value.number()) return number_json(*number);
  if (auto plain = value.text()) return std::string(*plain);
  if (auto* list = value.list()) {
    ir::Json array = ir::Json::array();
    for (const hir::Value item : *list) array.push_back(value_json(build, item, feature, place));
    return array;
  }
  if (auto* reference = value.reference())
    return fmt::format("{} {}", reference->target_kind.text, reference->target.text);
  return nullptr;
}

namespace {

void number_requirement(ir::Requirement& requirement, const sema::Merged& merged) {
  auto take = [&](const sema::Bound& bound, std::optional<double>& end, bool& strict) {
    const hir::Number* number = bound.number();
    if (number == nullptr) return;
    end = base(*number);
    strict = bound.from->op == ast::Op::Lt || bound.from->op == ast::Op::Gt;
    if (!expr::size_factor(number->unit.text)) requirement.unit = std::string(number->unit.text);
  };
  take(merged.lower, requirement.min, requirement.min_strict);
  take(merged.upper, requirement.max, requirement.max_strict);
  bool equal = merged.lower.from != nullptr && merged.lower.from == merged.upper.from &&
               merged.lower.from->op == ast::Op::Eq;
  if (equal) requirement.equals = number_json(*merged.lower.number());
}

ir::Json group_json(Build& build, const sema::FeatureSet& group, const std::string& place) {
  ir::Json object = ir::Json::object();
  for (const sema::Merged& merged : group.items) {
    std::string name(merged.name());
    if (merged.kind == sema::Merged::Kind::Value)
      object[name] = value_json(build, *merged.value, name, place);
    if (merged.kind == sema::Merged::Kind::Number && merged.lower.number() != nullptr)
      object[name] = number_json(*merged.lower.number());
    for (const sema::FeatureSet& inner : merged.groups)
      object[name].push_back(group_json(build, inner, place));
  }
  return object;
}

ir::Requirement requirement_of(Build& build, const sema::Merged& merged, const std::string& place) {
  ir::Requirement requirement;
  switch (merged.kind) {
    case sema::Merged::Kind::Number:
      number_requirement(requirement, merged);
      break;
    case sema::Merged::Kind::Value:
      if (merged.first->op != ast::Op::Eq && merged.text()) {
        requirement.versions[std::string(ast::op_text(merged.first->op))] = std::string(*merged.text());
      } else {
        requirement.equals = value_json(build, *merged.value, merged.name(), place);
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
      for (const hir::Feature* one : merged.set)
        requirement.equals->push_back(value_json(build, one->value, merged.name(), place));
      break;
    case sema::Merged::Kind::Unknown:
      break;
  }
  return requirement;
}

// So that no cloud compares words in its own way.
void spell_choice(sema::Scope scope, std::string_view name, ir::Json& value) {
  const sema::FeatureSpec* spec = sema::find_feature(scope, name);
  if (!spec || spec->checked || spec->type != sema::FeatureType::Choice || !value.is_string()) return;
  for (std::string_view word : spec->values)
    if (equal_ignoring_case(word, value.get<std::string>())) value = word;
}

}  // namespace

std::map<std::string, ir::Requirement> requirements_of(Build& build, sema::Scope scope,
                                                       const sema::FeatureSet& features,
                                                       const std::string& place) {
  std::map<std::string, ir::Requirement> requirements;
  for (const sema::Merged& merged : features.items) {
    ir::Requirement& made = requirements[std::string(merged.name())] = requirement_of(build, merged, place);
    if (made.equals) spell_choice(scope, merged.name(), *made.equals);
  }
  return requirements;
}

}  // namespace radl::passes

#include "tools/lsp/vocabulary.h"

#include <algorithm>

#include "compiler/check/features.h"
#include "compiler/resources/resource_schema.h"

namespace radl::lsp {
namespace {

std::vector<std::string> split_bars(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t bar = std::min(text.find('|'), text.size());
    if (bar > 0) parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
  }
  return parts;
}

std::vector<std::string> unit_words(sema::UnitClass unit) {
  auto units = sema::units_of(unit);
  return {units.begin(), units.end()};
}

std::string kind_of(const sema::FeatureSpec& spec) {
  using enum sema::FeatureType;
  bool yes_no = spec.values.size() == 2 && spec.values[0] == "yes";
  switch (spec.type) {
    case Number:
      return "number";
    case Integer:
      return "integer";
    case Choice:
      return yes_no ? "boolean" : "string";
    case Applications:
      return "group";
    case List:
      return "list";
    case StringOrList:
      return "text or list";
    case Any:
      return "any value";
    default:
      return "string";
  }
}

Word word_of(const sema::FeatureSpec& spec) {
  Word word;
  word.name = spec.name;
  word.kind = kind_of(spec);
  word.doc = spec.documentation;
  word.values.assign(spec.values.begin(), spec.values.end());
  word.units = unit_words(spec.unit);
  word.group = spec.type == sema::FeatureType::Applications;
  word.number = spec.type == sema::FeatureType::Number || spec.type == sema::FeatureType::Integer;
  word.compares = sema::operators_of(spec.type) == sema::Operators::All;
  word.preset = spec.default_value;
  word.radl2 = spec.scope == sema::Scope::Radl2System;
  return word;
}

std::string kind_of(ir::PropertyType type) { return std::string(ir::property_type_name(type)); }

Word word_of(const ir::Property& property) {
  Word word;
  word.name = property.name;
  word.kind = property.type == ir::PropertyType::Boolean ? "boolean" : kind_of(property.type);
  if (property.type == ir::PropertyType::RemotePath || property.type == ir::PropertyType::LocalPath ||
      property.type == ir::PropertyType::Output || property.type == ir::PropertyType::Bucket ||
      property.type == ir::PropertyType::Mode) {
    word.kind = "string";
  }
  word.doc = property.doc;
  word.values = split_bars(property.one_of);
  if (property.type == ir::PropertyType::Size) word.units = unit_words(sema::UnitClass::Size);
  if (property.type == ir::PropertyType::Duration) word.units = {"s", "m", "h", "d"};
  word.preset = property.default_json;
  word.required = property.required;
  return word;
}

sema::Scope scope_of(std::string_view owner) {
  if (owner == "network") return sema::Scope::Network;
  if (owner == "system") return sema::Scope::System;
  if (owner == "ansible") return sema::Scope::Ansible;
  if (owner == "description") return sema::Scope::Description;
  if (owner.ends_with(".applications")) return sema::Scope::Application;
  return sema::Scope::None;
}

Word plain(const char* name, const char* kind, const char* doc, bool required = false) {
  Word word;
  word.name = name;
  word.kind = kind;
  word.doc = doc;
  word.required = required;
  if (word.kind == "boolean") word.values = {"yes", "no"};
  return word;
}

// What `input` and `output` blocks have; compiler/eval/inputs.cc reads the same names.
std::vector<Word> block_features(std::string_view owner) {
  if (owner == "input") {
    return {
        plain("type", "string",
              "What the value must be: text, integer, number, boolean, size, duration, list, map, system, "
              "systems."),
        plain("default", "any value", "The value if none is given. Without a default, a value is required."),
        plain("description", "string", "Its purpose: shown in the prompt and in the documentation."),
        plain("min", "number", "The smallest value."),
        plain("max", "number", "The largest value."),
        plain("one_of", "list", "The values that it may have."),
        plain("pattern", "string", "A regular expression that the whole string must match."),
        plain("sensitive", "boolean", "Never written to plan, state or logs.")};
  }
  if (owner == "output") {
    return {plain("value", "any value", "The result.", true), plain("description", "string", "What it is."),
            plain("sensitive", "boolean", "Not shown unless asked for."),
            plain("when", "boolean", "The output is left out where this is not so.")};
  }
  return {};
}

}  // namespace

std::vector<Word> features_of(std::string_view owner) {
  std::vector<Word> words;
  if (owner.starts_with("resource ")) {
    if (const ir::ResourceType* type = ir::find_resource_type(owner.substr(9))) {
      for (const ir::Property& property : type->properties) words.push_back(word_of(property));
      words.push_back(plain("when", "boolean", "The resource is left out where this is not so."));
      words.push_back(plain("with", "map", "Further properties, from a map."));
    }
    return words;
  }
  if (sema::Scope scope = scope_of(owner); scope != sema::Scope::None) {
    for (const sema::FeatureSpec& spec : sema::all_features()) {
      const bool here =
          spec.scope == scope || (scope == sema::Scope::System && spec.scope == sema::Scope::Radl2System);
      if (here && !spec.name.ends_with('*')) words.push_back(word_of(spec));
    }
    return words;
  }
  return block_features(owner);
}

std::optional<Word> find_feature(std::string_view owner, std::string_view name) {
  if (sema::Scope scope = scope_of(owner); scope != sema::Scope::None) {
    const sema::FeatureSpec* spec = sema::find_feature(scope, name);
    if (spec == nullptr && scope == sema::Scope::System)
      spec = sema::find_feature(sema::Scope::Radl2System, name);
    return spec ? std::optional(word_of(*spec)) : std::nullopt;
  }
  for (Word& word : features_of(owner)) {
    if (word.name == name) return std::move(word);
  }
  return std::nullopt;
}

}  // namespace radl::lsp

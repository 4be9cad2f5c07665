#include "compiler/resources/resource_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/resources/resource_table.h"

namespace radl::ir {

std::span<const ResourceType> resource_types() { return table::kTypes; }

const ResourceType* find_resource_type(std::string_view name) {
  auto found = std::find_if(std::begin(table::kTypes), std::end(table::kTypes),
                            [&](const ResourceType& type) { return type.name == name; });
  return found == std::end(table::kTypes) ? nullptr : found;
}

const Property* find_property(const ResourceType& type, std::string_view name) {
  auto found = std::find_if(type.properties.begin(), type.properties.end(),
                            [&](const Property& property) { return property.name == name; });
  return found == type.properties.end() ? nullptr : &*found;
}

bool is_job_type(std::string_view name) { return name == "training" || name == "program"; }

std::string_view property_type_name(PropertyType type) {
  static constexpr std::string_view names[] = {"string",
                                               "integer",
                                               "number",
                                               "boolean",
                                               "size",
                                               "duration",
                                               "mode",
                                               "local path",
                                               "local folder, or a place in an object store",
                                               "place in an object store",
                                               "path",
                                               "list",
                                               "map",
                                               "systems",
                                               "list of pairs",
                                               "dataset",
                                               "dataset's place",
                                               "image size",
                                               "local path, or git::URL@COMMIT",
                                               "map of local paths"};
  static_assert(std::size(names) == static_cast<size_t>(PropertyType::LocalPaths) + 1);
  return names[static_cast<size_t>(type)];
}

namespace {

std::string rule_text(const ResourceType& type) {
  if (type.exclusive.empty()) return "";
  bool optional = type.exclusive.starts_with('?');
  std::string names;
  std::string_view rest = type.exclusive.substr(optional ? 1 : 0);
  while (true) {
    size_t bar = rest.find('|');
    names += fmt::format("{}`{}`", names.empty() ? "" : ", ", rest.substr(0, bar));
    if (bar == rest.npos) break;
    rest.remove_prefix(bar + 1);
  }
  return fmt::format("{} one of {}.\n\n", optional ? "At most" : "Exactly", names);
}

std::string domain_text(const Property& property) {
  if (!property.one_of.empty()) {
    std::string text;
    for (char c : property.one_of) text += c == '|' ? std::string(", ") : std::string(1, c);
    return text;
  }
  std::string text(property_type_name(property.type));
  if (property.form != StringForm::Any)
    text +=
        fmt::format("{}{}", property.type == PropertyType::List ? ", each " : ": ", form_name(property.form));
  if (property.min < property.max) text += fmt::format(", {} to {}", property.min, property.max);
  return text;
}

}  // namespace

std::string resource_schema_markdown() {
  std::string page =
      "# Native recipes: resource types\n\n"
      "This page is for you if you write a recipe. It lists each type of resource with its properties. "
      "`radlc doc "
      "--resources` prints it.\n\n"
      "A resource is written `type 'name' ( property = value, ... )` inside a `configure` block "
      "([Recipes](language/blocks.md#recipes)).\n";
  for (const ResourceType& type : resource_types()) {
    page += fmt::format("\n## {}\n\n{}\n\n**Name:** {}{}.\n\n**After removal from the recipe:** {}\n\n{}",
                        type.name, type.doc, type.subject,
                        type.name_is_path ? " (absolute, or starting with `~/`)" : "", type.undoing,
                        rule_text(type));
    page += "| property | value | default | meaning |\n|---|---|---|---|\n";
    for (const Property& property : type.properties) {
      page += fmt::format("| `{}` | {} | {} | {} |\n", property.name, domain_text(property),
                          property.required               ? "**required**"
                          : property.default_json.empty() ? std::string("-")
                                                          : fmt::format("`{}`", property.default_json),
                          property.doc);
    }
  }
  return page;
}

}  // namespace radl::ir

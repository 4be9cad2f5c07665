#include "runtime/steps/native/value_checks.h"

#include <fmt/format.h>

#include <filesystem>

#include "compiler/resources/resource_schema.h"

namespace radl::native {
namespace {

Status refused(const Item& item, const ir::Property& property, const std::string& value) {
  return invalid(fmt::format("{}: {}: '{}' cannot stand here: expected {}", item.label(), property.name,
                             value, ir::form_name(property.form)));
}

Status check_form(const Item& item, const ir::Property& property, const Json& value) {
  if (!value.is_string()) return {};
  const std::string& text = value.get_ref<const std::string&>();
  if ((text.empty() && !property.required) || ir::has_form(property.form, text)) return {};
  return refused(item, property, text);
}

// What `rm -rf` must not get, however it is written.
Status check_removal(const Item& item) {
  if (item.resource->type != "directory" || item.text("state", "present") != "absent") return {};
  const std::string plain = std::filesystem::path(item.resource->name).lexically_normal().string();
  // Keeps "//": POSIX allows it to be another root.
  const bool root = plain.find_first_not_of('/') == std::string::npos;
  const bool all = root || plain == "~" || plain == "~/" || plain.starts_with('.');
  return all ? invalid(item.label() + ": this folder is not removed") : Status();
}

}  // namespace

Status check_values(const Item& item) {
  const ir::ResourceType* type = ir::find_resource_type(item.resource->type);
  if (type == nullptr) return {};
  for (const ir::Property& property : type->properties) {
    const std::string name(property.name);
    if (property.form == ir::StringForm::Any || !item.has(name.c_str())) continue;
    const Json& value = item.resource->properties[name];
    const auto values = value.is_array() ? value : Json::array({value});
    for (const Json& one : values) {
      if (Status s = check_form(item, property, one); !s.ok()) return s;
    }
  }
  return check_removal(item);
}

}  // namespace radl::native

#include "compiler/passes/recipes.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/dataset_files.h"
#include "common/digest.h"
#include "common/suggestion.h"
#include "common/text.h"
#include "compiler/eval/datasets.h"
#include "compiler/eval/expand.h"
#include "compiler/passes/recipe_habits.h"
#include "compiler/syntax/renamed.h"

namespace radl::passes {

using expr::Value;
using ValueKind = expr::Kind;

std::string json_digest(const ir::Json& json) {
  return sha256_hex(json.dump(-1, ' ', false, ir::Json::error_handler_t::replace));
}

namespace {

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (const ir::ResourceType& type : ir::resource_types()) names.emplace_back(type.name);
  return names;
}

std::vector<std::string> split_bars(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    size_t bar = std::min(text.find('|'), text.size());
    parts.emplace_back(text.substr(0, bar));
    text.remove_prefix(std::min(bar + 1, text.size()));
  }
  return parts;
}

// Repeating these is no mistake: a command can be run twice.
bool may_repeat(std::string_view type) { return type == "command" || type == "wait_for"; }

// kubeadm join ${control[0].private_ip}: the text of a command as plans show it.
std::string with_placeholders(const Value& value) {
  if (value.kind() == ValueKind::Unknown) return fmt::format("${{{}}}", value.as_text());
  if (value.kind() != ValueKind::Joined) return value.as_text();
  std::string text;
  for (const Value& part : value.items()) text += with_placeholders(part);
  return text;
}

// What a resource depends on: content, not where this computer keeps it.
ir::Json digest_part(const ir::Resource& resource) {
  ir::Json properties = resource.properties;
  for (auto at = properties.begin(); at != properties.end();) {
    at = properties.contains(at.key() + "_sha256") ? properties.erase(at) : std::next(at);
  }
  return {{"type", resource.type}, {"name", resource.name}, {"properties", std::move(properties)}};
}

}  // namespace

std::optional<Recipes::Made> Recipes::native(const ast::Configure& configure, const Instance& instance,
                                             const std::string& place, const Self* self) {
  WithinUse within(build_.diagnostics, instance.used_from);
  size_t errors = build_.diagnostics.errors();
  Pass pass{instance, place, {}, {}, ir::Json::array()};
  add(configure.resources, self, pass);
  if (build_.diagnostics.errors() != errors) return std::nullopt;
  pass.made.digest = json_digest({{"kind", "native"}, {"resources", std::move(pass.digest)}});
  return std::move(pass.made);
}

void Recipes::add(const List<ast::Resource*>& resources, const Self* self, Pass& pass) {
  for (const ast::Resource* written : resources) {
    if (written->each != nullptr) {
      add_each(*written, self, pass);
      continue;
    }
    if (pass.made.resources.size() >= expr::kMaxElements) {
      build_.diagnostics.report(DiagCode::ExpressionCost, written->span,
                                fmt::format("a recipe may have {} resources", expr::kMaxElements));
      return;
    }
    auto wanted = this->wanted(*written, pass.instance, self, pass.made.used_self);
    if (!wanted || !*wanted) continue;
    auto resource = this->resource(*written, pass.instance, pass.place, self, pass.made.used_self);
    if (!resource) continue;
    auto [first, fresh] = pass.seen.emplace(std::pair(resource->type, resource->name), written->span);
    if (!fresh && !may_repeat(resource->type)) {
      build_.diagnostics
          .report(DiagCode::DuplicateResource, written->name->span,
                  fmt::format("{} '{}' is a duplicate in this recipe", resource->type, resource->name))
          .note(first->second, "first here");
    }
    pass.digest.push_back(digest_part(*resource));
    pass.made.resources.push_back(std::move(*resource));
  }
}

void Recipes::add_each(const ast::Resource& repeated, const Self* self, Pass& pass) {
  const size_t errors = build_.diagnostics.errors();
  build_.scopes->repeat(*repeated.each, pass.instance, self, &pass.made.used_self, [&](const Self& inside) {
    add(repeated.inner, &inside, pass);
    return build_.diagnostics.errors() == errors;  // the others would say the same
  });
}

std::optional<bool> Recipes::wanted(const ast::Resource& written, const Instance& instance, const Self* self,
                                    bool& used_self) {
  const ast::Feature* when = when_of(written.body);
  if (when == nullptr) return true;
  Value value = build_.scopes->evaluate(*when->value, instance, self, &used_self);
  return when_says(value, when->value->span, build_.diagnostics);
}

bool Recipes::properties_with(const ast::Feature& with, const ir::ResourceType& type,
                              const PropertyContext& context, const Instance& instance, const Self* self,
                              bool& used_self, std::set<std::string_view>& present, ir::Json& into) {
  auto wrong = [&](Span at, std::string message) {
    build_.diagnostics.report(DiagCode::PropertyValue, at, std::move(message));
    return false;
  };
  if (with.form != ast::FeatureKind::Simple || with.op != ast::Op::Eq)
    return wrong(with.span, "`with` takes a map of properties: with = { mode = '0644' }");
  Value value = build_.scopes->evaluate(*with.value, instance, self, &used_self);
  if (value.is_error()) return false;
  if (value.kind() == ValueKind::Null) return true;
  if (value.kind() != ValueKind::Map)
    return wrong(with.value->span,
                 fmt::format("`with` takes a map of properties, not {}", expr::kind_name(value.kind())));
  size_t errors = build_.diagnostics.errors();
  for (const auto& [name, item] : value.entries()) {
    const ir::Property* property = ir::find_property(type, name);
    if (property == nullptr) {
      wrong(with.value->span, fmt::format("a {} has no property '{}'", type.name, name));
    } else if (present.contains(property->name)) {
      wrong(with.value->span, fmt::format("'{}' is given twice: in `with` and as a property", name));
    } else if (item.kind() != ValueKind::Null) {
      set_property(context, *property, item, with.value->span, into);
      present.insert(property->name);
    }
  }
  return build_.diagnostics.errors() == errors;
}

std::optional<ir::Resource> Recipes::resource(const ast::Resource& written, const Instance& instance,
                                              const std::string& place, const Self* self, bool& used_self) {
  const ir::ResourceType* type = ir::find_resource_type(written.type.text);
  if (type == nullptr) {
    auto& diagnostic =
        build_.diagnostics.report(DiagCode::UnknownResource, written.type.span,
                                  fmt::format("there is no type of resource '{}'", written.type.text));
    std::string near(resource_type_called(written.type.text));
    if (near.empty()) near = nearest(written.type.text, type_names());
    if (!near.empty())
      diagnostic.with_help(fmt::format("did you mean '{}'?", near))
          .fix(fmt::format("write '{}'", near), written.type.span, near);
    else
      diagnostic.with_help(fmt::format("types: {}", fmt::join(type_names(), ", ")));
    return std::nullopt;
  }
  auto name = resource_name(written, *type, instance, self, used_self);
  ir::Resource made;
  made.type = std::string(type->name);
  if (name && name->has_unknown()) {
    made.name = with_placeholders(*name);
    made.properties[ir::kNameProperty] = expr::Emitter(nullptr, "").emit(*name);
  } else {
    made.name = name ? name->as_text() : "";
  }
  made.origin = build_.origin(written.type.span);
  PropertyContext context{build_.diagnostics,
                          files_,
                          build_.secrets,
                          [this](uint32_t file) { return build_.folder_of(file); },
                          fmt::format("{} {} '{}'", place, made.type, made.name),
                          [this](const std::string& system) { return build_.node_addresses(system); }};
  std::map<std::string_view, Span> given;
  bool fine = name.has_value();
  const ast::Feature* with = nullptr;
  const ast::Feature* when = when_of(written.body);
  auto take = [&](const ast::Feature& feature, const Self* inside) {
    if (feature.form == ast::FeatureKind::Error || &feature == when) return;
    const std::string_view word = feature.name.text;
    if (word == "when" || (word == "with" && inside != self)) {
      fine = false;
      build_.diagnostics.report(
          DiagCode::PropertyValue, feature.name.span,
          fmt::format("`{}` is written once, directly in the body of the {}", word, type->name));
      return;
    }
    auto [first, fresh] = given.emplace(feature.name.text, feature.name.span);
    if (!fresh)
      build_.diagnostics
          .report(DiagCode::ExclusiveProperties, feature.name.span,
                  fmt::format("'{}' is given more than once", feature.name.text))
          .note(first->second, "first here");
    else if (feature.name.text == "with")
      with = &feature;
    else
      fine = property(feature, *type, context, instance, inside, used_self, made.properties) && fine;
  };
  fine = build_.scopes->each_feature(written.body.items, instance, self, &used_self, take) && fine;
  std::set<std::string_view> present;
  for (const auto& [each, span] : given) {
    if (!nulls_.contains(each) && each != "with") present.insert(each);
  }
  nulls_.clear();
  if (with != nullptr)
    fine =
        properties_with(*with, *type, context, instance, self, used_self, present, made.properties) && fine;
  if (!complete(written, *type, present, made.properties) || !fine) return std::nullopt;
  if (made.type == "dataset" && !place_dataset(*name, written.name->span, made)) return std::nullopt;
  return made;
}

bool Recipes::place_dataset(const Value& name, Span at, ir::Resource& made) {
  const std::string folder = build_.folder_of(name.file());
  ir::Json& properties = made.properties;
  Status placed;
  if (!properties.contains("path")) {
    placed = check_dataset_name(made.name, false, folder);
    if (placed.ok() && names_a_place(made.name))
      placed = set_dataset_location(files_, made.name, folder, "path", properties);
  }
  if (properties.contains("path") && !properties.contains("directory"))
    properties["directory"] = dataset_directory(made.name);
  if (placed.ok()) return true;
  auto& diagnostic = build_.diagnostics.report(
      placed.code() == Code::Invalid ? DiagCode::ResourceName : DiagCode::LocalFile, at, placed.message());
  if (!placed.hint().empty()) diagnostic.with_help(placed.hint());
  return false;
}

std::optional<Value> Recipes::resource_name(const ast::Resource& written, const ir::ResourceType& type,
                                            const Instance& instance, const Self* self, bool& used_self) {
  if (written.name == nullptr) return std::nullopt;
  Value value = build_.scopes->evaluate(*written.name, instance, self, &used_self);
  auto wrong_name = [&](std::string message, std::string help = {}) {
    build_.diagnostics.report(DiagCode::ResourceName, written.name->span, std::move(message)).help =
        std::move(help);
    return std::optional<Value>();
  };
  if (value.sensitive())
    return wrong_name(
        "the name of a resource is shown in plans: it cannot be a secret",
        type.name == "command"
            ? "hand it over in the environment: `command 'login \"$TOKEN\"' ( environment = { TOKEN = "
              "input.token } )`"
            : "");
  if (value.is_error()) return std::nullopt;
  bool later =
      (value.kind() == ValueKind::Joined || value.kind() == ValueKind::Unknown) && may_repeat(type.name);
  if (value.kind() != ValueKind::String && !later)
    return wrong_name(fmt::format("the name of a {} is a string that is known before apply, not {}",
                                  type.name, expr::kind_name(value.kind())),
                      value.kind() == ValueKind::List
                          ? fmt::format("one for each element: `each x in LIST ( {} x )`", type.name)
                          : std::string());
  if (later) return value;
  const std::string& name = value.as_text();
  if (name.empty()) return wrong_name(fmt::format("the name of a {} is empty", type.name));
  if (type.name_is_path && !name.starts_with('/') && !name.starts_with("~/")) {
    return wrong_name(
        fmt::format("'{}' is not a path: the name of a {} begins with / or ~/", name, type.name));
  }
  return value;
}

bool Recipes::property(const ast::Feature& feature, const ir::ResourceType& type,
                       const PropertyContext& context, const Instance& instance, const Self* self,
                       bool& used_self, ir::Json& into) {
  const ir::Property* property =
      feature.form == ast::FeatureKind::Soft ? nullptr : ir::find_property(type, feature.name.text);
  if (property == nullptr) {
    auto& diagnostic =
        build_.diagnostics.report(DiagCode::UnknownProperty, feature.name ? feature.name.span : feature.span,
                                  fmt::format("a {} has no property '{}'", type.name, feature.name.text));
    std::vector<std::string> names;
    for (const ir::Property& each : type.properties) names.emplace_back(each.name);
    std::string near(renamed_property(type.name, feature.name.text));
    const bool renamed = !near.empty();
    if (!renamed) near = suggestion(feature.name.text, names);
    if (std::string help = help_for_name_property(type.name, feature.name.text);
        near.empty() && !help.empty()) {
      diagnostic.with_help(std::move(help));
    } else if (!near.empty()) {
      diagnostic.with_help(renamed ? renamed_help(near) : fmt::format("did you mean '{}'?", near));
      if (feature.named == nullptr)  // else one string makes several names
        diagnostic.fix(fmt::format("write '{}'", near), feature.name.span, near);
    } else {
      diagnostic.with_help(fmt::format("properties: {}", fmt::join(names, ", ")));
    }
    return false;
  }
  Value value;
  Span at = feature.span;
  if (feature.form == ast::FeatureKind::Contains && feature.group != nullptr) {
    value = group_value(*feature.group, instance, self, used_self);
  } else if (feature.op != ast::Op::Eq || feature.value == nullptr) {
    build_.diagnostics.report(DiagCode::PropertyValue, feature.op_span, "properties are given with `=`");
    return false;
  } else {
    value = build_.scopes->evaluate(*feature.value, instance, self, &used_self);
    at = feature.value->span;
  }
  if (value.kind() == ValueKind::Null) nulls_.insert(feature.name.text);  // as if it were not written
  size_t errors = build_.diagnostics.errors();
  set_property(context, *property, value, at, into);
  return !value.is_error() && build_.diagnostics.errors() == errors;
}

Value Recipes::group_value(const ast::Features& group, const Instance& instance, const Self* self,
                           bool& used_self) {
  expr::Entries entries;
  for (const ast::Feature* feature : group.items) {
    if (feature->form == ast::FeatureKind::Error) return {};
    if (feature->form != ast::FeatureKind::Simple || feature->op != ast::Op::Eq) {
      build_.diagnostics.report(DiagCode::PropertyValue, feature->span,
                                "entries of a group are given with `=`");
      return {};
    }
    Value value = build_.scopes->evaluate(*feature->value, instance, self, &used_self);
    if (value.is_error()) return {};
    entries.insert_or_assign(std::string(feature->name.text), std::move(value));
  }
  return Value::map(std::move(entries));
}

bool Recipes::complete(const ast::Resource& written, const ir::ResourceType& type,
                       const std::set<std::string_view>& present, ir::Json& properties) {
  bool fine = true;
  auto given = [&](std::string_view name) { return present.contains(name); };
  for (const ir::Property& property : type.properties) {
    if (property.required && !given(property.name)) {
      build_.diagnostics
          .report(DiagCode::MissingProperty, written.type.span,
                  fmt::format("a {} needs the property '{}'", type.name, property.name))
          .with_help(std::string(property.doc));
      fine = false;
    }
    if (!property.default_json.empty() && !given(property.name))
      properties[std::string(property.name)] = ir::Json::parse(property.default_json);
  }
  if (type.exclusive.empty()) return fine;
  bool optional = type.exclusive.starts_with('?');
  std::vector<std::string> names = split_bars(type.exclusive.substr(optional ? 1 : 0));
  auto count = std::count_if(names.begin(), names.end(), given);
  if (count > 1) {
    build_.diagnostics.report(
        DiagCode::ExclusiveProperties, written.type.span,
        fmt::format("a {} takes one of {}, not {} of them", type.name, fmt::join(names, ", "), count));
    fine = false;
  } else if (count == 0 && !optional) {
    build_.diagnostics.report(
        DiagCode::MissingProperty, written.type.span,
        fmt::format("a {} needs one of the properties {}", type.name, fmt::join(names, ", ")));
    fine = false;
  }
  return fine;
}

// A job runs on nodes of its own: nothing else is in its configure, and outside of `each` it has no `when`.
bool Recipes::stands_alone(const ast::Configure& configure, const ast::Resource& job) {
  const std::string_view kind = job.type.text;
  for (const List<ast::Resource*>* at = &configure.resources;; at = &(*at)[0]->inner) {
    if (at->size() != 1) {
      build_.diagnostics.report(
          DiagCode::TrainingPlace, configure.name.span,
          fmt::format("'{0}' contains a {1} and something else: a {1} must be alone in its configure",
                      configure.name.text, kind));
      return false;
    }
    if ((*at)[0] == &job) break;
  }
  const ast::Feature* when = configure.resources[0] == &job ? when_of(job.body) : nullptr;
  if (when == nullptr) return true;
  build_.diagnostics.report(DiagCode::TrainingPlace, when->span,
                            fmt::format("a {} has no `when`: give it to the `use` of its module", kind));
  return false;
}

std::vector<ir::Step> Recipes::jobs(const ast::Configure& configure, const Instance& instance) {
  WithinUse within(build_.diagnostics, instance.used_from);
  std::vector<ir::Step> steps;
  if (!stands_alone(configure, *find_job(configure))) return steps;
  build_.scopes->each_job(configure, instance, [&](const ast::Resource& written, const Self* self) {
    if (auto step = job(written, configure, instance, self)) steps.push_back(std::move(*step));
  });
  return steps;
}

std::optional<ir::Step> Recipes::job(const ast::Resource& written, const ast::Configure& configure,
                                     const Instance& instance, const Self* self) {
  bool used_self = false;
  auto made = resource(written, instance, instance.full(configure.name.text), self, used_self);
  if (!made) return std::nullopt;
  const std::string folder = build_.folder_of(0);
  ir::Step step;
  step.id = fmt::format("{}/{}", written.type.text, made->name);
  step.recipe = instance.full(configure.name.text);
  step.origin = made->origin;
  const bool fine = written.type.text == "training"
                        ? training_step(build_, *made, written.type.span, folder, step)
                        : program_step(build_, files_, *made, written, folder, step);
  if (!fine) return std::nullopt;
  return step;
}

}  // namespace radl::passes

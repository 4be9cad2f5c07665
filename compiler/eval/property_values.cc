// Values of the language as properties: strings, numbers, lists, maps, systems.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/text.h"
#include "compiler/eval/property_setter.h"
#include "compiler/eval/units.h"

namespace radl::passes {

using ir::PropertyType;

void PropertySetter::run(const Value& value) {
  if (value.kind() == ValueKind::Null) return;
  if (value.is_error()) {
    if (is_shown()) (void)shown(value);  // a secret that has no value yet will be one
    return;
  }
  if (value.kind() == ValueKind::Unknown && may_be_unknown()) return put(value);
  switch (property_.type) {
    case PropertyType::String:
    case PropertyType::RemotePath:
      return text(value);
    case PropertyType::Integer:
    case PropertyType::Number:
      return number(value);
    case PropertyType::Size:
      return measured(value, expr::size_factor_of_value(value.is_number() ? value.unit() : ""),
                      "a size, such as 4G");
    case PropertyType::Duration:
      return measured(value, expr::duration_factor(value.is_number() ? value.unit() : ""),
                      "a duration, such as 90s or 5m");
    case PropertyType::Boolean:
      return boolean(value);
    case PropertyType::Mode:
      return mode(value);
    case PropertyType::LocalPath:
      return local_path(value);
    case PropertyType::Output:
      return output(value);
    case PropertyType::Bucket:
      return bucket(value);
    case PropertyType::List:
      return list(value);
    case PropertyType::Map:
      return map(value);
    case PropertyType::Systems:
      return systems(value);
    case PropertyType::SizeStages:
      return size_stages(value);
    case PropertyType::Dataset:
      return dataset(value);
    case PropertyType::DatasetPath:
      return dataset_path(value);
    case PropertyType::ImageSize:
      return image_size(value);
    case PropertyType::Source:
      return source(value);
    case PropertyType::LocalPaths:
      return local_paths(value);
  }
}

std::string PropertySetter::key() const { return std::string(property_.name); }

namespace {

// '5m', '16G', '0.5'
bool number_in_quotes(std::string_view text) {
  const size_t unit = std::min(text.find_first_not_of("0123456789."), text.size());
  return unit > 0 && text[0] != '.' &&
         std::all_of(text.begin() + static_cast<ptrdiff_t>(unit), text.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

}  // namespace

void PropertySetter::wrong(std::string_view what, const Value& value, std::string help) {
  auto shown = value.sensitive() ? std::nullopt : expr::display(value);
  bool plain = value.is_number() || value.kind() == ValueKind::Boolean;
  bool brief = shown && shown->size() < 60 && (plain || value.kind() == ValueKind::String);
  Diagnostic& said =
      context_.diagnostics.report(DiagCode::PropertyValue, at_,
                                  fmt::format("'{}' takes {}, not {}", property_.name, what,
                                              !brief  ? std::string(expr::kind_name(value.kind()))
                                              : plain ? *shown
                                                      : fmt::format("'{}'", *shown)));
  if (!help.empty()) said.with_help(std::move(help));
  const bool measure = property_.type == PropertyType::Integer || property_.type == PropertyType::Number ||
                       property_.type == PropertyType::Size || property_.type == PropertyType::Duration;
  if (brief && !plain && measure && number_in_quotes(*shown))
    said.with_help(fmt::format("write the number without quotes: {}", *shown));
}

// Texts, lists and maps may hold secrets, which plans show by their names.
bool PropertySetter::is_shown() const {
  const bool text = property_.type == PropertyType::String || property_.type == PropertyType::RemotePath;
  if (text) return !property_.one_of.empty();
  return property_.type != PropertyType::List && property_.type != PropertyType::Map;
}

bool PropertySetter::may_be_unknown() const {
  switch (property_.type) {
    case PropertyType::String:
    case PropertyType::RemotePath:
    case PropertyType::Integer:
      return property_.one_of.empty();
    default:
      return false;
  }
}

// The value unchanged; secrets by name.
void PropertySetter::put(const Value& value) {
  expr::Emitter emitter(&context_.secrets, fmt::format("{}.{}", context_.place, property_.name),
                        context_.nodes_of);
  into_[key()] = emitter.emit(value);
}

const std::string* PropertySetter::known_text(const Value& value, std::string_view what) {
  if (value.kind() != ValueKind::String) {
    wrong(what, value);
    return nullptr;
  }
  if (value.sensitive()) {
    context_.diagnostics.report(DiagCode::SecretShown, at_,
                                fmt::format("'{}' is shown in plans: it cannot be a secret", property_.name));
    return nullptr;
  }
  return &value.as_text();
}

void PropertySetter::text(const Value& value) {
  if (!property_.one_of.empty()) return choice(value);
  // A string property accepts a number in its written form: version = 3
  if (!value.is_text() && !value.is_number()) return wrong("a string", value);
  const Value string = value.is_text() ? value : *expr::as_string(value);
  if (fits_form(string)) put(string);
}

// Unknown values are checked once they are known. So are secrets, because a finding would reveal something
// about them. Inputs use the empty string for "none".
bool PropertySetter::fits_form(const Value& value) {
  if (value.kind() != ValueKind::String || value.sensitive()) return true;
  const std::string& text = value.as_text();
  if ((text.empty() && !property_.required) || ir::has_form(property_.form, text)) return true;
  wrong(ir::form_name(property_.form), value);
  return false;
}

void PropertySetter::choice(const Value& value) {
  std::string shown(value.kind() == ValueKind::Boolean ? (value.as_boolean() ? "yes" : "no") : "");
  const std::string* chosen = value.kind() == ValueKind::Boolean ? &shown : known_text(value, "a string");
  if (chosen == nullptr) return;
  std::vector<std::string> choices;
  for (std::string_view rest = property_.one_of; !rest.empty();) {
    size_t bar = std::min(rest.find('|'), rest.size());
    choices.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  if (std::find(choices.begin(), choices.end(), *chosen) != choices.end()) {
    into_[key()] = *chosen;
    return;
  }
  auto& diagnostic = context_.diagnostics.report(
      DiagCode::PropertyValue, at_,
      fmt::format("'{}' is one of {}, not '{}'", property_.name, fmt::join(choices, ", "), *chosen));
  // What Ansible calls these states.
  static constexpr std::pair<std::string_view, std::string_view> kCalled[] = {
      {"started", "running"}, {"restarted", "running"}, {"installed", "present"}, {"removed", "absent"}};
  std::string near = nearest(*chosen, choices);
  for (const auto& [other, here] : kCalled)
    if (other == *chosen && std::find(choices.begin(), choices.end(), here) != choices.end()) near = here;
  if (!near.empty()) diagnostic.with_help(fmt::format("did you mean '{}'?", near));
}

bool PropertySetter::in_range(double value) {
  if (!(property_.min < property_.max) || (value >= property_.min && value <= property_.max)) return true;
  context_.diagnostics.report(
      DiagCode::PropertyValue, at_,
      fmt::format("'{}' is from {} to {}, not {}", property_.name, property_.min, property_.max, value));
  return false;
}

bool PropertySetter::shown(const Value& value) {
  if (!value.sensitive()) return true;
  context_.diagnostics.report(DiagCode::SecretShown, at_,
                              fmt::format("'{}' is shown in plans: it cannot be a secret", property_.name));
  return false;
}

void PropertySetter::number(const Value& value) {
  bool whole = property_.type == PropertyType::Integer;
  bool fits = value.is_number() && value.unit().empty() && (!whole || value.kind() == ValueKind::Integer);
  if (!fits) return wrong(whole ? "an integer" : "a number", value);
  if (!shown(value) || !in_range(value.as_real())) return;
  into_[key()] = whole ? ir::Json(value.as_integer()) : ir::Json(value.as_real());
}

void PropertySetter::measured(const Value& value, std::optional<double> factor, std::string_view what) {
  if (!value.is_number() || !factor) return wrong(what, value);
  double base = value.as_real() * *factor;
  if (!shown(value) || !in_range(base)) return;
  into_[key()] = base == std::floor(base) && std::abs(base) < 9e15 ? ir::Json(static_cast<int64_t>(base))
                                                                   : ir::Json(base);
}

void PropertySetter::boolean(const Value& value) {
  bool text = value.kind() == ValueKind::String;
  if ((text || value.kind() == ValueKind::Boolean) && !shown(value)) return;
  const std::string word = text ? value.as_text() : "";
  bool yes = text ? word == "yes" || word == "true" : value.as_boolean();
  bool known = value.kind() == ValueKind::Boolean || yes || word == "no" || word == "false";
  if (!known) return wrong("a boolean (yes or no)", value);
  into_[key()] = yes;
}

void PropertySetter::mode(const Value& value) {
  const std::string* digits = known_text(value, "permissions as a string, such as '0644'");
  if (digits == nullptr) return;
  bool octal = (digits->size() == 3 || digits->size() == 4) &&
               digits->find_first_not_of("01234567") == std::string::npos;
  if (!octal) return wrong("permissions as a string of octal digits, such as '0644'", value);
  into_[key()] = digits->size() == 3 ? "0" + *digits : *digits;
}

void PropertySetter::list(const Value& value) {
  if (value.is_text() || value.kind() == ValueKind::Unknown) {
    if (fits_form(value)) put(Value::list({value}));
    return;
  }
  if (value.kind() != ValueKind::List) return wrong("a list", value);
  for (const Value& item : value.items()) {
    if (!item.is_text() && !item.is_number() && item.kind() != ValueKind::Unknown)
      return wrong("a list of strings", item);
    if (!fits_form(item.is_number() ? *expr::as_string(item) : item)) return;
  }
  put(value);
}

void PropertySetter::map(const Value& value) {
  if (value.kind() != ValueKind::Map) return wrong("a group: `contains ( NAME = 'value' )`", value);
  expr::Entries entries;
  for (const auto& [name, inner] : value.entries()) {
    bool fine = inner.is_text() || inner.kind() == ValueKind::Unknown || inner.is_number() ||
                inner.kind() == ValueKind::Boolean;
    if (!fine) return wrong("a group of strings", inner);
    entries.emplace(name,
                    inner.is_text() || inner.kind() == ValueKind::Unknown ? inner : *expr::as_string(inner));
  }
  put(Value::map(std::move(entries)));
}

void PropertySetter::systems(const Value& value) {
  expr::Items items = value.kind() == ValueKind::List ? value.items() : expr::Items{value};
  ir::Json addresses = ir::Json::array();
  for (const Value& item : items) {
    if (!shown(item)) return;
    if (item.kind() == ValueKind::System) {
      for (std::string& address : context_.nodes_of(item.as_text())) addresses.push_back(std::move(address));
    } else if (item.kind() == ValueKind::Node) {
      addresses.push_back(*expr::display(item));
    } else {
      return wrong("a system or a list of systems", item);
    }
  }
  into_[key()] = std::move(addresses);
}

void PropertySetter::size_stages(const Value& value) {
  const std::string_view what =
      "a list of pairs such as [[0.5, 0.3], [0.75, 0.6]]: share of the sides, until which share of the run";
  ir::Json stages = ir::Json::array();
  double before = 0;
  if (value.kind() != ValueKind::List) return wrong(what, value);
  for (const Value& pair : value.items()) {
    const bool two = pair.kind() == ValueKind::List && pair.items().size() == 2;
    if (!two || !pair.items()[0].is_number() || !pair.items()[1].is_number()) return wrong(what, pair);
    const double scale = pair.items()[0].as_real(), until = pair.items()[1].as_real();
    if (!shown(pair.items()[0]) || !shown(pair.items()[1])) return;
    if (!(scale > 0 && scale <= 1 && until > before && until <= 1)) {
      context_.diagnostics.report(
          DiagCode::PropertyValue, at_,
          fmt::format(
              "'{}': [{}, {}] is out of place: shares are above 0 and at most 1, and the second ones rise",
              property_.name, scale, until));
      return;
    }
    before = until;
    stages.push_back({{"scale", scale}, {"until", until}});
  }
  into_[key()] = std::move(stages);
}

// 64, '48x64' or '48x64x1': height, width, channels.
void PropertySetter::image_size(const Value& value) {
  const std::string_view what = "the side in pixels, or 'HEIGHTxWIDTH' or 'HEIGHTxWIDTHxCHANNELS'";
  ir::Json sizes = ir::Json::array();
  if (value.kind() == ValueKind::Integer && value.unit().empty()) {
    if (!shown(value)) return;
    sizes = {value.as_integer(), value.as_integer()};
  } else {
    const std::string* text = known_text(value, what);
    if (text == nullptr) return;
    std::istringstream in(*text);
    for (std::string part; std::getline(in, part, 'x');) {
      if (part.empty() || part.size() > 5 || part.find_first_not_of("0123456789") != part.npos)
        return wrong(what, value);
      sizes.push_back(std::stoll(part));
    }
  }
  if (sizes.size() == 1) sizes.push_back(sizes[0]);
  if (sizes.size() == 2) sizes.push_back(3);
  const bool fits = sizes.size() == 3 && sizes[0] >= 1 && sizes[1] >= 1 && sizes[0] <= 4096 &&
                    sizes[1] <= 4096 && (sizes[2] == 1 || sizes[2] == 3);
  if (!fits) return wrong(what, value);
  into_[key()] = std::move(sizes);
}

}  // namespace radl::passes

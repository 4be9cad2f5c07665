#include "compiler/check/features.h"

#include <algorithm>
#include <unordered_map>

#include "common/text.h"
#include "compiler/eval/units.h"

namespace radl::sema {
namespace {

constexpr bool Yes = true, No = false;
constexpr int kMaxIndexDigits = 18;

std::vector<std::string_view> list_of(std::string_view values) {
  if (values.empty()) return {};
  return split(values, '|');
}

bool all_digits(std::string_view text) {
  for (char c : text)
    if (c < '0' || c > '9') return false;
  return !text.empty();
}

// Indices become N (the first) and I (a second one), so that the name can be looked up; what they were is
// kept.
struct Pattern {
  std::string text;
  std::vector<std::string_view> indices;
};

Pattern pattern_of(std::string_view name) {
  Pattern out;
  if (!name.starts_with("disk.") && !name.starts_with("net_interface.")) {
    out.text = name;
    return out;
  }
  for (std::string_view piece : split(name, '.')) {
    if (!out.text.empty()) out.text += '.';
    if (all_digits(piece)) {
      out.indices.push_back(piece);
      out.text += out.indices.size() == 1 ? "N" : "I";
    } else {
      out.text += piece;
    }
  }
  return out;
}

// "input.*" for "input.0.path".
std::string family_of(std::string_view name) {
  size_t dot = name.find('.');
  return dot == name.npos || dot + 1 == name.size() ? std::string()
                                                    : std::string(name.substr(0, dot + 1)) + "*";
}

// Where the rows are: by scope and name, and those of systems' disks and interfaces by what follows the
// number.
struct Rows {
  using Index = std::unordered_map<std::string_view, const FeatureSpec*>;

  Rows() {
    for (const FeatureSpec& spec : all_features()) {
      IndexedName parts = spec.scope == Scope::System ? split_index(spec.name) : IndexedName();
      Index& index = parts.kind.empty() ? plain[static_cast<size_t>(spec.scope)] : numbered(parts);
      index.emplace(parts.kind.empty() ? spec.name : parts.rest, &spec);
    }
  }
  Index& numbered(const IndexedName& parts) { return parts.kind == "disk" ? disk : interface; }

  Index plain[static_cast<size_t>(Scope::None)];
  Index disk, interface;
};

const FeatureSpec* row(const Rows::Index& rows, std::string_view name) {
  auto at = rows.find(name);
  return at == rows.end() ? nullptr : at->second;
}

}  // namespace

const std::vector<FeatureSpec>& all_features() {
  static const std::vector<FeatureSpec> table = {
#define FEATURE(scope, name, type, unit, checked, values, default_value, documentation) \
  {Scope::scope,    name,          FeatureType::type, UnitClass::unit, checked,         \
   list_of(values), default_value, documentation},
#include "compiler/check/features.def"
#undef FEATURE
  };
  return table;
}

const FeatureSpec* find_feature(Scope scope, std::string_view name) {
  return find_feature(scope, name, split_index(name));
}

const FeatureSpec* find_feature(Scope scope, std::string_view name, const IndexedName& parts) {
  static Rows rows;
  if (scope == Scope::None) return nullptr;
  if (parts.kind.empty()) {
    const Rows::Index& plain = rows.plain[static_cast<size_t>(scope)];
    const FeatureSpec* found = row(plain, name);
    return found != nullptr ? found : row(plain, family_of(name));
  }
  if (!parts.valid || scope != Scope::System) return nullptr;
  const Rows::Index& index = rows.numbered(parts);
  const FeatureSpec* found = row(index, parts.rest);
  if (found == nullptr && parts.rest.starts_with("dns."))
    found = row(index, std::string_view(pattern_of(name).text).substr(parts.kind.size() + 3));
  return found;
}

namespace {

// What other tools, and people, call features of a system.
std::string_view called_here(std::string_view name) {
  static constexpr std::string_view kCalled =
      " cpus=cpu.count vcpu=cpu.count vcpus=cpu.count cores=cpu.count num_cpus=cpu.count gpus=gpu.count "
      "num_gpus=gpu.count gpu=gpu.count accelerator=gpu.model accelerators=gpu.model "
      "gpu_type=gpu.model ram=memory.size mem=memory.size arch=cpu.arch architecture=cpu.arch "
      "region=availability_zone zone=availability_zone machine_type=instance_type flavor=instance_type "
      "vm_size=instance_type instance=instance_type machine=instance_type type=instance_type "
      "size=instance_type preemptible=spot use_spot=spot spot_instance=spot image=disk.0.image.url "
      "ami=disk.0.image.url image_id=disk.0.image.url os=disk.0.os.name "
      "user=disk.0.os.credentials.username username=disk.0.os.credentials.username "
      "disk_size=disk.0.size disk=disk.0.size storage=disk.0.size nodes=count num_nodes=count "
      "replicas=count provider=cloud infra=cloud network=networks autostop=stop.idle "
      "idle_minutes_to_autostop=stop.idle labels=instance_tags iam_instance_profile=instance_profile ";
  const std::string key = " " + to_lower(name) + "=";
  const size_t at = kCalled.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view here = kCalled.substr(at + key.size());
  return here.substr(0, here.find(' '));
}

}  // namespace

std::string nearest_feature(Scope scope, std::string_view name) {
  if (const std::string_view here = called_here(name); scope == Scope::System && !here.empty())
    return std::string(here);
  Pattern wanted = pattern_of(name);
  std::vector<std::string_view> names;
  for (const FeatureSpec& spec : all_features())
    if (spec.scope == scope && !spec.name.ends_with('*')) names.push_back(spec.name);
  auto near = nearest_name(wanted.text, names);
  // `memory` is the beginning of the intended name.
  auto longer = std::find_if(names.begin(), names.end(), [&](std::string_view known) {
    return known.size() > wanted.text.size() && known.starts_with(wanted.text) &&
           known[wanted.text.size()] == '.';
  });
  if (longer != names.end()) near = *longer;
  if (!near || *near == wanted.text) return {};
  std::string out;
  size_t next = 0;
  for (std::string_view piece : split(*near, '.')) {
    if (!out.empty()) out += '.';
    bool index = piece == "N" || piece == "I";
    out += !index ? piece : next < wanted.indices.size() ? wanted.indices[next++] : std::string_view("0");
  }
  return out;
}

IndexedName split_index(std::string_view name) {
  IndexedName out;
  size_t kind = name.starts_with("disk.") ? 4 : name.starts_with("net_interface.") ? 13 : 0;
  if (kind == 0) return out;
  out.kind = name.substr(0, kind);
  std::string_view behind = name.substr(kind + 1);
  size_t dot = behind.find('.');
  out.index = behind.substr(0, dot);
  if (dot != std::string_view::npos) out.rest = behind.substr(dot + 1);
  // An integer as the reference reads one: a sign, and single `_` between digits.
  std::string_view text = out.index;
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int digits = 0;
  int64_t number = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_' && i > 0 && i + 1 < text.size() && text[i - 1] != '_') continue;
    if (text[i] < '0' || text[i] > '9' || ++digits > kMaxIndexDigits) return out;
    number = number * 10 + (text[i] - '0');
  }
  if (digits == 0) return out;
  out.number = negative ? -number : number;
  out.valid = true;
  return out;
}

Scope scope_of(ast::Kind block) {
  switch (block) {
    case ast::Kind::Network:
      return Scope::Network;
    case ast::Kind::System:
      return Scope::System;
    case ast::Kind::Ansible:
      return Scope::Ansible;
    case ast::Kind::Description:
      return Scope::Description;
    case ast::Kind::Contextualize:
      return Scope::Option;
    default:
      return Scope::None;
  }
}

Operators operators_of(FeatureType type) {
  switch (type) {
    case FeatureType::Any:
    case FeatureType::Number:
    case FeatureType::Integer:
    case FeatureType::Version:
      return Operators::All;
    case FeatureType::Applications:
      return Operators::Contains;
    default:
      return Operators::Equal;
  }
}

std::span<const std::string_view> units_of(UnitClass units) {
  if (units == UnitClass::Size) return expr::size_units();
  if (units == UnitClass::Performance) return expr::performance_units();
  return {};
}

std::string_view type_name(FeatureType type) {
  switch (type) {
    case FeatureType::Any:
      return "any value";
    case FeatureType::Number:
      return "a number";
    case FeatureType::Integer:
      return "an integer";
    case FeatureType::Applications:
      return "a group, `contains (...)`";
    case FeatureType::StringOrList:
      return "a string or a list of strings";
    case FeatureType::List:
      return "a list of strings";
    default:
      return "a string";
  }
}

// Asked of each feature of a document: by its last letter first.
bool is_secret_name(std::string_view name) {
  switch (name.empty() ? '\0' : name.back()) {
    case 'd':
      return name.ends_with("password");
    case 'y':
      return name.ends_with("private_key") || name.ends_with("secret_key") || name == "proxy_key";
    case 'n':
      return name.ends_with(".token");
    default:
      return false;
  }
}

bool may_be_secret(Scope scope, const FeatureSpec* spec, std::string_view name) {
  if (is_secret_name(name) || name == "proxy_host") return true;  // user:password@host
  const bool unread = spec == nullptr || spec->type == FeatureType::Any;
  return unread && (scope == Scope::System || scope == Scope::Network);
}

}  // namespace radl::sema

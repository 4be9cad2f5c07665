#include "compiler/eval/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace radl::hir {
namespace {

using ValueKind = expr::Kind;

constexpr std::string_view kDisk = "disk.", kInterface = "net_interface.";
constexpr std::string_view kFirstOs = "disk.0.os.name";
constexpr int kMaxNumber = 100'000;  // numbers go on after the highest

// The number in "disk.12.size"; -1 for any other name.
int number_in(std::string_view name, std::string_view kind) {
  if (!name.starts_with(kind)) return -1;
  name.remove_prefix(kind.size());
  int number = -1;
  auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && number < kMaxNumber ? number : -1;
}

int highest_number(const Features& features, std::string_view kind) {
  int highest = -1;
  for (const Feature& feature : features.items) highest = std::max(highest, number_in(feature.name, kind));
  return highest;
}

bool has(const Features& features, std::string_view name) {
  return std::any_of(features.items.begin(), features.items.end(),
                     [&](const Feature& feature) { return feature.name == name; });
}

// Short field names of records, in addition to the feature names.
std::string_view feature_called(std::string_view key, Records records) {
  if (records == Records::Disks && key == "mount") return "mount_path";
  if (records == Records::Networks && key == "network") return "connection";
  return key;
}

const ast::Entry* entry_of(const ast::Expr* written, std::string_view key) {
  auto* map = ast::as<ast::MapValue>(written);
  if (map == nullptr) return nullptr;
  for (const ast::Entry& entry : map->entries)
    if (entry.name.text == key) return &entry;
  return nullptr;
}

}  // namespace

bool is_record_list(std::string_view name) {
  return name == "disks" || name == "networks" || name == "applications";
}

void RecordWriter::add(Feature shape, std::string_view name, const expr::Value& value, Span at,
                       Features& into) {
  shape.name = arena_.copy(name);
  leaf_(shape, value, at, into);
}

// The entries of a map, those of maps in it with their path.
void RecordWriter::record(Feature shape, const std::string& prefix, const Part& part, Features& into) {
  const Feature whole = shape;
  for (const auto& [key, inner] : part.value.entries()) {
    const ast::Entry* entry = entry_of(part.written, key);
    const std::string name = prefix + std::string(feature_called(key, shape.records));
    shape.name_span = entry == nullptr ? whole.name_span : entry->name.span;
    shape.span = entry == nullptr ? whole.span : entry->span;
    shape.op_span = shape.name_span;
    shape.unwritten = static_cast<uint16_t>(
        std::min<size_t>(entry == nullptr || !name.ends_with(key) ? name.size() : prefix.size(), UINT16_MAX));
    expr::Value value = inner;
    value.taint(part.value);
    const Part below{value, entry == nullptr ? nullptr : entry->value,
                     entry == nullptr ? part.at : entry->value->span};
    if (value.kind() == ValueKind::Map)
      record(shape, name + ".", below, into);
    else
      add(shape, name, value, below.at, into);
  }
}

void RecordWriter::map(const Feature& feature, const ast::Expr& written, const expr::Value& value,
                       Features& into) {
  record(feature, std::string(feature.name) + ".", {value, &written, written.span}, into);
}

RecordWriter::Part RecordWriter::element(const expr::Value& list, const ast::Expr& written, size_t i) {
  if (list.kind() != ValueKind::List) return {list, &written, written.span};
  auto* items = ast::as<ast::ListValue>(&written);
  const ast::Expr* item = items != nullptr && i < items->items.size() ? items->items[i] : nullptr;
  return {list.items()[i], item, item == nullptr ? written.span : item->span};
}

void RecordWriter::drop(Records records, Features& from) {
  List<Feature> kept;
  for (const Feature& feature : from.items)
    if (feature.records != records) kept.push(arena_, feature);
  from.items = kept;
}

void RecordWriter::list(const Feature& list, const ast::Expr& written, const expr::Value& value,
                        Features& into) {
  Feature shape = list;
  shape.records = list.name == "disks"      ? Records::Disks
                  : list.name == "networks" ? Records::Networks
                                            : Records::None;
  if (shape.records != Records::None) drop(shape.records, into);
  const size_t count = value.kind() == ValueKind::List ? value.items().size() : 1;
  for (size_t i = 0; i < count; ++i) {
    const Part part = element(value, written, i);
    if (part.value.kind() == ValueKind::Null) continue;
    if (shape.records == Records::Disks)
      disk(shape, part, into);
    else if (shape.records == Records::Networks)
      network(shape, part, into);
    else
      application(shape, part, into);
  }
}

void RecordWriter::refuse(const Feature& shape, const Part& part, std::string_view example) {
  diagnostics_
      .report(DiagCode::FeatureExpression, part.at,
              fmt::format("an element of `{}` is a record, not {}", shape.name,
                          expr::kind_name(part.value.kind())))
      .with_help(fmt::format("such as {}", example));
}

// The one that the system starts from is described by `disk.0`, so records begin at 1.
void RecordWriter::disk(Feature shape, const Part& part, Features& into) {
  if (part.value.kind() != ValueKind::Map) return refuse(shape, part, "{ size = 100G, mount = '/data' }");
  const int number = std::max(highest_number(into, kDisk) + 1, 1);
  const std::string prefix = fmt::format("{}{}.", kDisk, number);
  shape.span = part.at;
  record(shape, prefix, part, into);
  if (!has(into, prefix + "mount_path")) return;
  shape.unwritten = UINT16_MAX;
  constexpr int kLetters = 26;
  if (!has(into, prefix + "device") && number < kLetters)
    add(shape, prefix + "device", expr::Value::string(fmt::format("hd{}", static_cast<char>('a' + number))),
        part.at, into);
  if (!has(into, prefix + "fstype"))
    add(shape, prefix + "fstype", expr::Value::string("ext4"), part.at, into);
}

void RecordWriter::network(Feature shape, const Part& part, Features& into) {
  const std::string prefix = fmt::format("{}{}.", kInterface, highest_number(into, kInterface) + 1);
  shape.span = part.at;
  if (part.value.kind() == ValueKind::Map) return record(shape, prefix, part, into);
  if (part.value.kind() != ValueKind::String) return refuse(shape, part, "lan, or { network = lan }");
  shape.unwritten = UINT16_MAX;
  add(shape, prefix + "connection", part.value, part.at, into);
}

void RecordWriter::application(Feature shape, const Part& part, Features& into) {
  auto* group = arena_.make<Features>();
  shape.span = part.at;
  if (part.value.kind() == ValueKind::Map) {
    record(shape, "", part, *group);
  } else if (part.value.kind() == ValueKind::String) {
    Feature name = shape;
    name.unwritten = UINT16_MAX;
    add(name, "name", part.value, part.at, *group);
  } else {
    return refuse(shape, part, "'git', or { name = 'git', version = '2' }");
  }
  shape.name = "disk.0.applications";
  shape.unwritten = UINT16_MAX;
  shape.op = ast::Op::None;
  shape.value = arena_.make<Group>(ast::Kind::Group, part.at, group);
  into.items.push(arena_, shape);
}

void RecordWriter::finish(Features& system) {
  const auto unwritten = [](const Feature& feature) {
    return feature.name == kFirstOs && feature.unwritten == UINT16_MAX;
  };
  const Feature* disk = nullptr;
  bool written = false, added = false;
  for (const Feature& feature : system.items) {
    const bool one = unwritten(feature);
    added |= one;
    written |= !one && number_in(feature.name, kDisk) == 0;
    if (disk == nullptr && feature.records == Records::Disks) disk = &feature;
  }
  if (added && written) {  // it came from one system, and what is written from another
    List<Feature> kept;
    for (const Feature& feature : system.items)
      if (!unwritten(feature)) kept.push(arena_, feature);
    system.items = kept;
  }
  if (added || written || disk == nullptr) return;
  Feature first = *disk;
  first.records = Records::None;
  first.unwritten = UINT16_MAX;
  add(first, kFirstOs, expr::Value::string("linux"), first.span, system);
}

}  // namespace radl::hir

// Which fields of a spec differ.
#include "runtime/plan/fields.h"

#include <algorithm>

#include "compiler/ir/ir.h"

namespace radl {

namespace {

using Path = std::vector<std::string>;

bool is_inner(const Json& value) {
  return value.is_object() && !value.empty() && !ir::is_unknown(value) && !ir::is_secret(value) &&
         !ir::is_join(value);
}

std::string name_of(const Path& path) {
  std::string name;
  for (const std::string& key : path) name += (name.empty() ? "" : ".") + key;
  return name;
}

void collect(const Json& value, Path& path, std::map<Path, const Json*>& leaves) {
  if (value.is_null() || value == Json::object()) return;  // as good as absent
  if (!is_inner(value)) {
    if (!path.empty()) leaves[path] = &value;
    return;
  }
  for (const auto& [key, part] : value.items()) {
    path.push_back(key);
    collect(part, path, leaves);
    path.pop_back();
  }
}

std::map<Path, const Json*> leaves_of(const Json& value) {
  std::map<Path, const Json*> leaves;
  Path path;
  collect(value, path, leaves);
  return leaves;
}

}  // namespace

std::vector<FieldDifference> differing_leaves(const Json& before, const Json& after) {
  std::vector<FieldDifference> differing;
  if (before == after) return differing;
  const std::map<Path, const Json*> old_leaves = leaves_of(before), new_leaves = leaves_of(after);
  for (const auto& [path, value] : old_leaves) {
    auto now = new_leaves.find(path);
    if (now == new_leaves.end()) {
      differing.push_back({name_of(path), path, *value, nullptr});
    } else if (*now->second != *value) {
      differing.push_back({name_of(path), path, *value, *now->second});
    }
  }
  for (const auto& [path, value] : new_leaves) {
    if (!old_leaves.count(path)) differing.push_back({name_of(path), path, nullptr, *value});
  }
  std::sort(differing.begin(), differing.end(),
            [](const FieldDifference& a, const FieldDifference& b) { return a.name < b.name; });
  return differing;
}

Json with_leaf(Json base, const FieldDifference& difference) {
  Json* at = &base;
  for (size_t i = 0; i + 1 < difference.path.size(); ++i) {
    if (!at->is_object()) *at = Json::object();
    at = &(*at)[difference.path[i]];
  }
  if (!at->is_object()) *at = Json::object();
  if (difference.after.is_null()) {
    at->erase(difference.path.back());
  } else {
    (*at)[difference.path.back()] = difference.after;
  }
  return base;
}

std::vector<FieldChange> differing_fields(const Json& before, const Json& after) {
  std::vector<FieldChange> changes;
  for (FieldDifference& leaf : differing_leaves(before, after))
    changes.push_back({std::move(leaf.name), std::move(leaf.before), std::move(leaf.after)});
  return changes;
}

}  // namespace radl

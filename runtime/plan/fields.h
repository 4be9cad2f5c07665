// Which fields of a spec differ. Internal to runtime/plan.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

// A leaf of an object that differs: "a.b.c". Lists are leaves, as are values that are not known yet.
struct FieldDifference {
  std::string name;
  std::vector<std::string> path;  // the keys: one may have points in it
  Json before, after;             // null: absent
};

// By name.
std::vector<FieldDifference> differing_leaves(const Json& before, const Json& after);
// `base` with this leaf as it is after.
Json with_leaf(Json base, const FieldDifference& difference);
// The same, to be shown.
std::vector<FieldChange> differing_fields(const Json& before, const Json& after);

}  // namespace radl

// Finds differing fields of specs. Internal to runtime/plan.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace radl {

// A differing leaf of an object: "a.b.c". Lists and unknown values count as leaves.
struct FieldDifference {
  std::string name;
  std::vector<std::string> path;  // the keys, which may contain dots
  Json before, after;             // null: absent
};

// Sorted by name.
std::vector<FieldDifference> differing_leaves(const Json& before, const Json& after);
// `base` with the leaf's new value.
Json with_leaf(Json base, const FieldDifference& difference);
// Same, for display.
std::vector<FieldChange> differing_fields(const Json& before, const Json& after);

}  // namespace radl

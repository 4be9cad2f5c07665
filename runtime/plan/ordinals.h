// Names that differ in their ordinal alone, shown as one: "worker[0..3]/tools". Internal to runtime/plan.
#pragma once

#include <string>
#include <vector>

namespace radl {

// "worker[3]/tools" -> "worker", 3, "/tools"; false where there is no ordinal in it.
bool split_ordinal(const std::string& id, std::string& prefix, int& ordinal, std::string& suffix);
// "0", "0..3", "0,2,5..7"
std::string ranges(std::vector<int> ordinals);

}  // namespace radl

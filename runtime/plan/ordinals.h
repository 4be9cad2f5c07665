// Names that differ in their ordinal alone, shown as one: "worker[0..3]/tools".
#pragma once

#include <map>
#include <string>
#include <vector>

namespace radl {

// "worker[3]/tools" -> "worker", 3, "/tools"; false where there is no ordinal in it.
bool split_ordinal(const std::string& id, std::string& prefix, int& ordinal, std::string& suffix);
// "0", "0..3", "0,2,5..7"
std::string ranges(std::vector<int> ordinals);
// "key.openstack, worker[0..3]": in their order, those that differ in their ordinal alone as one.
std::string names_together(const std::vector<std::string>& ids);
// What could not be looked at, and why (Plan::unseen), for a reader: one line for each reason.
std::vector<std::string> unseen_told(const std::map<std::string, std::string>& unseen);

}  // namespace radl

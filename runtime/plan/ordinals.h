// Combines names that differ only in their ordinal: "worker[0..3]/tools".
#pragma once

#include <map>
#include <string>
#include <vector>

namespace radl {

// "worker[3]/tools" -> "worker", 3, "/tools"; false if there is no ordinal.
bool split_ordinal(const std::string& id, std::string& prefix, int& ordinal, std::string& suffix);
// "0", "0..3", "0,2,5..7"
std::string ranges(std::vector<int> ordinals);
// "key.openstack, worker[0..3]": keeps the order, combines names that differ only in their ordinal.
std::string names_together(const std::vector<std::string>& ids);
// What could not be inspected and why (Plan::unseen), for display: one line per reason.
std::vector<std::string> unseen_told(const std::map<std::string, std::string>& unseen);

}  // namespace radl

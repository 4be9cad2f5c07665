// What stays because something uses it that `radlc state rm` has let go of.
#include <utility>

#include "runtime/plan/build.h"

namespace radl {

std::string Unowned::text() const {
  return id + " (" + type + " in " + cloud + (address.empty() ? "" : ", tagged " + address) + "): " + why;
}

std::map<std::string, std::string> used_by_released(const Snapshot& snapshot) {
  std::map<std::string, std::string> used;
  if (snapshot.released.empty()) return used;
  std::map<std::pair<std::string, std::string>, std::string> addresses;  // by cloud and id
  for (const auto& [address, record] : snapshot.resources) addresses[{record.cloud, record.id}] = address;
  std::vector<std::string> waiting;
  auto add = [&](const std::string& address, const std::string& by) {
    if (used.emplace(address, by).second) waiting.push_back(address);
  };
  for (const Released& one : snapshot.released) {
    for (const std::string& id : one.needs)
      if (auto known = addresses.find({one.cloud, id}); known != addresses.end())
        add(known->second, one.address + " (" + one.id + ")");
  }
  while (!waiting.empty()) {
    const ResourceRecord& record = snapshot.resources.at(waiting.back());
    const std::string by = used.at(waiting.back());
    waiting.pop_back();
    for (const std::string& need : record.needs)
      if (snapshot.resources.count(need)) add(need, by);
  }
  return used;
}

void keep_what_released_use(const Snapshot& snapshot, Plan& plan, std::set<std::string>& except) {
  if (snapshot.released.empty()) return;
  for (const auto& [address, by] : used_by_released(snapshot)) {
    if (!except.insert(address).second) continue;
    plan.kept.push_back({address, by});
    plan.notes.push_back(address + " stays: " + by + " uses it, which `radlc state rm` released");
  }
}

}  // namespace radl

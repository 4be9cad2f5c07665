#include "runtime/state/writes.h"

#include <utility>

namespace radl {

namespace {

// Moved, not copied as an initializer list would: records are most of what a write costs.
template <class... Changes>
std::vector<StateChange> changes_of(Changes... changes) {
  std::vector<StateChange> list;
  list.reserve(sizeof...(changes));
  (list.push_back(std::move(changes)), ...);
  return list;
}

}  // namespace

std::vector<StateChange> opening_of(Intent intent) {
  return changes_of(state_change::Begin{std::move(intent)});
}

std::vector<StateChange> closing_of(long long intent, const ResourceRecord* made) {
  if (!made) return changes_of(state_change::Close{intent, "nothing"});
  return changes_of(state_change::PutResource{*made}, state_change::Close{intent, "done"});
}

std::vector<StateChange> closing_of_destroy(long long intent, const std::string& address, bool keep_steps) {
  return changes_of(state_change::RemoveResource{address, keep_steps, false},
                    state_change::Close{intent, "done"});
}

std::vector<StateChange> putting_of(ResourceRecord record) {
  return changes_of(state_change::PutResource{std::move(record)});
}

}  // namespace radl

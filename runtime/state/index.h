// The locations of this user's states, for `radlc list`: a small JSON file. Resources are recorded only in
// the states; a lost index is rebuilt as they are applied.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"

namespace radl {

struct KnownState {
  std::string directory;  // of states (Store::open): absolute, or in a bucket
  std::string name;
  auto operator<=>(const KnownState&) const = default;
};

// The states that still exist, sorted; empty without an index. Corrupt: damaged, or of a newer
// radlc.
Result<std::vector<KnownState>> known_states(const std::string& index);
// Adds a state and removes missing ones. One process at a time; replaces the file atomically, mode 0600. A
// damaged file is Corrupt and stays unchanged.
Status remember_state(const std::string& index, const KnownState& state);
// Removes a deleted state.
Status forget_state(const std::string& index, const KnownState& state);
// Removes missing states.
Status tidy_known_states(const std::string& index);

}  // namespace radl

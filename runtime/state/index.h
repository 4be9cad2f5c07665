// Where this user's states are, for `radlc list`: one small JSON file. What is made is recorded in the states
// alone; an index that is lost is written again as they are applied.
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

// Those that are still there, sorted; none where there is no index. Corrupt: it is damaged, or of a newer
// radlc.
Result<std::vector<KnownState>> known_states(const std::string& index);
// Adds one, and takes out what is gone. One process at a time; the file is replaced as a whole, mode 0600.
// A damaged one is Corrupt and stays as it is.
Status remember_state(const std::string& index, const KnownState& state);
// Takes one out, which was removed.
Status forget_state(const std::string& index, const KnownState& state);
// Takes out what is gone.
Status tidy_known_states(const std::string& index);

}  // namespace radl

// The writes of runs to a state, each as a list for Store::commit() (docs/state.md, "Journal").
#pragma once

#include <vector>

#include "runtime/state/change.h"

namespace radl {

std::vector<StateChange> opening_of(Intent intent);  // for Create, Update, Destroy
// Closes an intent together with its result: the new resource record; nullptr: none.
std::vector<StateChange> closing_of(long long intent, const ResourceRecord* made);
// Same for Destroy. `keep_steps`: for a replacement, whose steps stay until they have run again.
std::vector<StateChange> closing_of_destroy(long long intent, const std::string& address, bool keep_steps);
std::vector<StateChange> putting_of(ResourceRecord record);

}  // namespace radl

// What runs write to a state, each one list for Store::commit() (docs/state.md, "Journal").
#pragma once

#include <vector>

#include "runtime/state/change.h"

namespace radl {

std::vector<StateChange> opening_of(Intent intent);  // of Create, Update, Destroy
// Closes an intent together with what came of it: the resource as it is now; nullptr: nothing.
std::vector<StateChange> closing_of(long long intent, const ResourceRecord* made);
// The same of Destroy. `keep_steps`: a replacement, whose steps stay known until they have run again.
std::vector<StateChange> closing_of_destroy(long long intent, const std::string& address, bool keep_steps);
std::vector<StateChange> putting_of(ResourceRecord record);

}  // namespace radl

// A farm as it was after a part of its journal, so that a reader need not replay that part.
//
// The journal stays the truth: a snapshot that is missing, damaged, of another journal or of another format
// is ignored, and all events are replayed.
#pragma once

#include <string>

#include "common/status.h"
#include "runtime/farm/farm.h"

namespace radl::farm {

// Beside the journal.
inline constexpr const char* kSnapshotFile = "/snapshot";

// Replays the journal of a farm's folder, from its snapshot on if there is one. Another process may be
// writing the journal; an incomplete end is ignored. If the rest was long, it writes a new snapshot, where it
// may. NotFound: there is no journal. Corrupt.
Result<Farm> load_farm(const std::string& folder, const Policy& policy = {});
// `farm`: what the first `size` bytes of the journal make; they are synced.
Status save_snapshot(const std::string& folder, Farm& farm, size_t size);
// The farm's whole state as bytes: those of two farms are equal if the farms are.
std::string bytes_of(Farm& farm);

}  // namespace radl::farm

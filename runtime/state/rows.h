// A state's records out of its tables. Internal to runtime/state.
#pragma once

#include "runtime/state/change.h"
#include "runtime/state/database.h"
#include "runtime/state/snapshot.h"
#include "runtime/state/store.h"

namespace radl {

Result<std::string> read_meta(Database& db, const std::string& key);  // empty when there is none

// What `radlc scale` has chosen: a row of `meta`.
Result<Scalings> read_scalings(Database& db);
Status write_scalings(Database& db, const Scalings& scaled);

// What `radlc state rm` has let go of: a row of `meta`.
Result<std::vector<Released>> read_released(Database& db);
Status write_released(Database& db, const std::vector<Released>& released);
// Store::owned().
Result<std::vector<Owned>> read_owned(Database& db);
// Closed entries of what has this id in this cloud, or was asked for with this token, go.
Status forget_in_journal(Database& db, const Owned& one);

// Everything, in the transaction that the caller opened.
Result<Snapshot> read_snapshot(Database& db);
Result<std::vector<Intent>> read_open_intents(Database& db);
Result<std::vector<HistoryEntry>> read_history(Database& db, size_t newest);

}  // namespace radl

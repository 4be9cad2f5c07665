// Reads a state's records from its tables. Internal to runtime/state.
#pragma once

#include "runtime/state/change.h"
#include "runtime/state/database.h"
#include "runtime/state/snapshot.h"
#include "runtime/state/store.h"

namespace radl {

Result<std::string> read_meta(Database& db, const std::string& key);  // empty if missing

// The choices of `radlc scale`: a row of `meta`.
Result<Scalings> read_scalings(Database& db);
Status write_scalings(Database& db, const Scalings& scaled);

// Resources released by `radlc state rm`: a row of `meta`.
Result<std::vector<Released>> read_released(Database& db);
Status write_released(Database& db, const std::vector<Released>& released);
// Store::owned().
Result<std::vector<Owned>> read_owned(Database& db);
// Deletes closed entries for the resource with this ID in this cloud, or with this token.
Status forget_in_journal(Database& db, const Owned& one);

// Reads everything in the caller's transaction.
Result<Snapshot> read_snapshot(Database& db);
Result<std::vector<Intent>> read_open_intents(Database& db);
Result<std::vector<HistoryEntry>> read_history(Database& db, size_t newest);

}  // namespace radl

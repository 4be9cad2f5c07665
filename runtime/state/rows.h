// Records as rows and back. Internal to runtime/state.
#pragma once

#include "runtime/state/database.h"
#include "runtime/state/snapshot.h"
#include "runtime/state/store.h"

namespace radl {

Status write_resource(Database& db, const ResourceRecord& record);
Status write_step(Database& db, const StepRecord& record);
Status write_meta(Database& db, const std::string& key, const std::string& value);
Result<std::string> read_meta(Database& db, const std::string& key);  // empty when there is none

// Everything, in the transaction that the caller opened.
Result<Snapshot> read_snapshot(Database& db);

// Of a resource: what an intent keeps of it.
Json resource_to_row_json(const ResourceRecord& record);
Result<ResourceRecord> resource_from_row_json(const std::string& text);

// Corrupt when the stored text is no JSON.
Result<Json> stored_json(const std::string& text, const char* where);

}  // namespace radl

// Applies one change to the tables. Internal to runtime/state.
#pragma once

#include "runtime/state/change.h"
#include "runtime/state/database.h"

namespace radl {

// The context of every write.
struct Writing {
  Database& db;
  double now = 0;             // wall-clock seconds
  std::string lock_id;        // of the writer
  std::string principal;      // the requesting user
  long long last_intent = 0;  // out: of the last Begin
};

// Call inside a transaction; the caller rolls it back on failure.
Status apply_change(Writing& writing, const StateChange& change);

// For `state mv`. Exists, NotFound; Invalid for an unsuitable name.
Status apply_move(Writing& writing, const state_change::Move& move);
Status write_step(Database& db, const StepRecord& record);
// Renames the intent's address and resource.
Status rewrite_intent(Database& db, const Intent& intent);
Status delete_resource(Database& db, const std::string& address, bool keep_steps);
Status delete_step(Database& db, const std::string& id);
Status write_meta(Database& db, const std::string& key, const std::string& value);

}  // namespace radl

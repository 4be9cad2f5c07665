// One change, done to the tables. Internal to runtime/state.
#pragma once

#include "runtime/state/change.h"
#include "runtime/state/database.h"

namespace radl {

// What every write has to know besides the change.
struct Writing {
  Database& db;
  double now = 0;             // wall seconds
  std::string lock_id;        // of who writes
  std::string principal;      // who asked for it
  long long last_intent = 0;  // out: of the last Begin
};

// In the transaction that the caller opened, and takes back when this fails.
Status apply_change(Writing& writing, const StateChange& change);

// Of `state mv`. Exists, NotFound; Invalid for a name that such a thing cannot have.
Status apply_move(Writing& writing, const state_change::Move& move);
Status write_step(Database& db, const StepRecord& record);
// The intent's address and resource under other names.
Status rewrite_intent(Database& db, const Intent& intent);
Status delete_resource(Database& db, const std::string& address, bool keep_steps);
Status delete_step(Database& db, const std::string& id);
Status write_meta(Database& db, const std::string& key, const std::string& value);

}  // namespace radl

// Changed rows of a database, recorded by SQLite's session extension (sqlite.org/sessionintro.html) and
// replayed on a copy. Internal to runtime/state.
#pragma once

#include <memory>
#include <string>

#include "common/status.h"
#include "runtime/state/database.h"

struct sqlite3_session;

namespace radl {

// Records from its creation on. Must not outlive the connection; do not replace the database meanwhile.
class RowChanges {
 public:
  static Result<RowChanges> since_now(Database& db);
  // A patchset of every row that differs from the start; "": none. Excludes transactions that were rolled
  // back.
  Result<std::string> all();

 private:
  struct End {
    void operator()(sqlite3_session* session) const;
  };
  std::unique_ptr<sqlite3_session, End> session_;
};

// Applies the result of all() to a database in the state at the RowChanges' creation. Corrupt: it does not
// match.
Status apply_row_changes(Database& db, const std::string& changes);

}  // namespace radl

// What changes in the rows of a database, recorded by SQLite's session extension
// (sqlite.org/sessionintro.html), and replayed on a copy. Internal to runtime/state.
#pragma once

#include <memory>
#include <string>

#include "common/status.h"
#include "runtime/state/database.h"

struct sqlite3_session;

namespace radl {

// Records from its creation on. Not longer than the database's connection, and not while that is overwritten.
class RowChanges {
 public:
  static Result<RowChanges> since_now(Database& db);
  // A patchset of every row that differs now from when this began; "": none. Nothing of a transaction that
  // was rolled back is in it.
  Result<std::string> all();

 private:
  struct End {
    void operator()(sqlite3_session* session) const;
  };
  std::unique_ptr<sqlite3_session, End> session_;
};

// Makes of a database as it was when a RowChanges began what it was when all() was called. Corrupt: they do
// not fit.
Status apply_row_changes(Database& db, const std::string& changes);

}  // namespace radl

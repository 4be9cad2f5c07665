// sqlite3.h declares the session extension only on request.
#define SQLITE_ENABLE_SESSION
#define SQLITE_ENABLE_PREUPDATE_HOOK
#include "runtime/state/row_changes.h"

#include <sqlite3.h>

namespace radl {

namespace {

Status session_status(int code) {
  const bool memory = (code & 0xff) == SQLITE_NOMEM;
  return {memory ? Code::Quota : Code::Internal,
          std::string("state: changes cannot be recorded: ") + sqlite3_errstr(code)};
}

int refuse(void*, int, sqlite3_changeset_iter*) { return SQLITE_CHANGESET_ABORT; }

}  // namespace

void RowChanges::End::operator()(sqlite3_session* session) const { sqlite3session_delete(session); }

Result<RowChanges> RowChanges::since_now(Database& db) {
  sqlite3_session* session = nullptr;
  if (const int code = sqlite3session_create(db.handle(), "main", &session); code != SQLITE_OK)
    return session_status(code);
  RowChanges changes;
  changes.session_.reset(session);
  if (const int code = sqlite3session_attach(session, nullptr); code != SQLITE_OK)
    return session_status(code);
  return changes;
}

Result<std::string> RowChanges::all() {
  int size = 0;
  void* bytes = nullptr;
  const int code = sqlite3session_patchset(session_.get(), &size, &bytes);
  const std::unique_ptr<void, decltype(&sqlite3_free)> owner(bytes, &sqlite3_free);
  if (code != SQLITE_OK) return session_status(code);
  return std::string(static_cast<const char*>(bytes), static_cast<size_t>(size));
}

Status apply_row_changes(Database& db, const std::string& changes) {
  if (changes.empty()) return {};
  const int code = sqlite3changeset_apply(db.handle(), static_cast<int>(changes.size()),
                                          const_cast<char*>(changes.data()), nullptr, &refuse, nullptr);
  if (code == SQLITE_OK) return {};
  if ((code & 0xff) == SQLITE_NOMEM) return session_status(code);
  return {Code::Corrupt, std::string("changes do not fit the state: ") + sqlite3_errstr(code)};
}

}  // namespace radl

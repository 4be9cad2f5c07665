// SQLite's result codes as Status, and its handles with owners.
#include "runtime/state/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace radl {

namespace {

bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// `path`: for a file that could not be opened, whose name SQLite does not keep.
Status sqlite_status(sqlite3* db, int code, const std::string& path = "state") {
  std::string what = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  const char* name = db ? sqlite3_db_filename(db, "main") : nullptr;
  std::string where = name && *name ? std::string(name) : path;
  const int error = db ? sqlite3_system_errno(db) : 0;
  const std::string cause = error != 0 ? std::strerror(error) : what;
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Status(Code::Quota, where + ": no space left for the state; nothing was lost")
          .with_hint("free some space and run the same command again");
    case SQLITE_IOERR:
      // A full disk under the log or its shared-memory file comes as an I/O error.
      if (is_full(error) || code == SQLITE_IOERR_SHMSIZE || code == SQLITE_IOERR_WRITE) {
        return Status(Code::Quota, where + ": the state cannot be written (" + cause + "); nothing was lost")
            .with_hint("look for a full or failing disk");
      }
      return {Code::Retry, where + ": " + cause};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::Conflict, where + ": another process is writing it"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return {Code::Auth, where + ": cannot write the state"};
    case SQLITE_CANTOPEN:
      return {is_full(error) ? Code::Quota : Code::Auth, where + ": cannot be opened (" + cause + ")"};
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return Status(Code::Corrupt, where + ": not a state of radlc, or damaged (" + what + ")")
          .with_hint("restore it from a backup; radlc never starts over on its own");
    case SQLITE_NOMEM:
      return {Code::Quota, where + ": out of memory"};
    case SQLITE_CONSTRAINT:
      return {Code::Exists, where + ": " + what};
    default:
      return {Code::Internal, where + ": " + what};
  }
}

Result<sqlite3*> open_handle(const std::string& path, int flags, const std::string& uri = "") {
  sqlite3* db = nullptr;
  int code = sqlite3_open_v2((uri.empty() ? path : uri).c_str(), &db,
                             flags | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_FULLMUTEX, nullptr);
  if (code == SQLITE_OK) {
    // Opening reads nothing yet; the first read tells whether the file can be used this way.
    sqlite3_busy_timeout(db, 5000);
    code = sqlite3_exec(db, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
  }
  if (code == SQLITE_OK) return db;
  Status failed = sqlite_status(db, code, path);
  sqlite3_close_v2(db);
  return failed;
}

std::string immutable_uri(const std::string& path) {
  std::string uri = "file:";
  for (unsigned char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      static const char* digits = "0123456789ABCDEF";
      uri += {'%', digits[c >> 4], digits[c & 15]};
    } else {
      uri += static_cast<char>(c);
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

Statement::~Statement() {
  if (!statement_) return;
  reset();
  try {
    (*idle_)[sqlite3_sql(statement_)].push_back(statement_);
  } catch (const std::bad_alloc&) {  // it is only kept to be quick
    sqlite3_finalize(statement_);
  }
}

Statement::Statement(Statement&& other) noexcept
    : db_(other.db_), statement_(std::exchange(other.statement_, nullptr)), idle_(other.idle_) {}

Statement& Statement::bind(int position, std::string_view text) {
  const char* data = text.empty() ? "" : text.data();
  sqlite3_bind_text64(statement_, position, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind(int position, long long number) {
  sqlite3_bind_int64(statement_, position, number);
  return *this;
}

Statement& Statement::bind(int position, double number) {
  sqlite3_bind_double(statement_, position, number);
  return *this;
}

Result<bool> Statement::step() {
  int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return sqlite_status(db_, code);
}

Status Statement::run() {
  Result<bool> row = step();
  return row.ok() ? Status() : row.status();
}

void Statement::reset() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(statement_);
}

std::string Statement::text(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  int size = sqlite3_column_bytes(statement_, column);
  return data ? std::string(static_cast<const char*>(data), static_cast<size_t>(size)) : std::string();
}

long long Statement::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_, column); }
bool Statement::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

Result<Database> Database::open(const std::string& path, Access access) {
  // A reader too opens for writing where it may: only so does SQLite tidy up its log files at the end.
  Result<sqlite3*> handle = open_handle(path, SQLITE_OPEN_READWRITE);
  if (!handle.ok() && access == Access::Read) {
    Code code = handle.status().code();
    if (code == Code::Auth) handle = open_handle(path, SQLITE_OPEN_READONLY);
    // A read-only folder has no place for the log's index; but then no other process writes
    // either.
    if (!handle.ok() && handle.status().code() == Code::Auth) {
      handle = open_handle(path, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, immutable_uri(path));
    }
  }
  if (!handle.ok()) return handle.status();
  Database db(*handle);
  Status set = db.exec(access == Access::Read ? "PRAGMA query_only=1"
                                              : "PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;");
  if (!set.ok()) return set;
  return db;
}

Database::~Database() {
  if (!db_) return;
  for (const auto& [sql, statements] : *idle_) {
    for (sqlite3_stmt* statement : statements) sqlite3_finalize(statement);
  }
  sqlite3_close_v2(db_);
}

Database::Database(Database&& other) noexcept
    : db_(std::exchange(other.db_, nullptr)), idle_(std::move(other.idle_)) {}

Database& Database::operator=(Database&& other) noexcept {
  std::swap(db_, other.db_);
  std::swap(idle_, other.idle_);
  return *this;
}

Result<Database> Database::copy_in_memory() {
  Result<sqlite3*> handle = open_handle(":memory:", SQLITE_OPEN_READWRITE);
  if (!handle.ok()) return handle.status();
  Database copy(*handle);
  if (Status copied = copy.overwrite(*this); !copied.ok()) return copied;
  return copy;
}

Result<Database> Database::in_memory(std::string_view bytes) {
  Result<sqlite3*> handle = open_handle(":memory:", SQLITE_OPEN_READWRITE);
  if (!handle.ok()) return handle.status();
  Database made(*handle);
  if (bytes.empty()) return made;
  // Written in WAL mode, as bytes 18 and 19 show (sqlite.org/fileformat.html); a memory database has no log.
  std::string file(bytes);
  if (file.size() > 19) file[18] = file[19] = 1;
  sqlite3* source = nullptr;
  if (int code = sqlite3_open_v2(":memory:", &source, SQLITE_OPEN_READWRITE, nullptr); code != SQLITE_OK)
    return sqlite_status(nullptr, code);
  Database given(source);
  const auto size = static_cast<sqlite3_int64>(file.size());
  const int code = sqlite3_deserialize(source, "main", reinterpret_cast<unsigned char*>(file.data()), size,
                                       size, SQLITE_DESERIALIZE_READONLY);
  if (code != SQLITE_OK) return sqlite_status(source, code);
  // Into a database of its own, which grows.
  if (Status copied = made.overwrite(given); !copied.ok()) return copied;
  return made;
}

Status Database::overwrite(Database& other) {
  sqlite3_backup* backup = sqlite3_backup_init(db_, "main", other.db_, "main");
  if (!backup) return sqlite_status(db_, sqlite3_extended_errcode(db_));
  const int code = sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
  return code == SQLITE_DONE ? Status() : sqlite_status(db_, code);
}

Result<std::string> Database::whole_bytes() {
  sqlite3_int64 size = 0;
  std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(sqlite3_serialize(db_, "main", &size, 0),
                                                                &sqlite3_free);
  if (!bytes) return Status(Code::Quota, "state: out of memory");
  return std::string(reinterpret_cast<char*>(bytes.get()), static_cast<size_t>(size));
}

Status Database::exec(const char* sql) {
  int code = sqlite3_exec(db_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : sqlite_status(db_, code);
}

Result<Statement> Database::prepare(std::string_view sql) {
  if (auto kept = idle_->find(sql); kept != idle_->end() && !kept->second.empty()) {
    sqlite3_stmt* statement = kept->second.back();
    kept->second.pop_back();
    return Statement(db_, statement, idle_.get());
  }
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                &statement, nullptr);
  if (code != SQLITE_OK) return sqlite_status(db_, code);
  return Statement(db_, statement, idle_.get());
}

Status Database::run(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  return statement.ok() ? statement->run() : statement.status();
}

Result<long long> Database::integer(std::string_view sql) {
  Result<Statement> statement = prepare(sql);
  if (!statement.ok()) return statement.status();
  Result<bool> row = statement->step();
  if (!row.ok()) return row.status();
  return *row ? statement->integer(0) : 0;
}

void Database::roll_back() noexcept { sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr); }

long long Database::last_row_id() const { return sqlite3_last_insert_rowid(db_); }
bool Database::read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }

Transaction::~Transaction() {
  if (open_) db_->roll_back();
}

Status Transaction::begin(bool for_writing) {
  Status begun = db_->run(for_writing ? "BEGIN IMMEDIATE" : "BEGIN");
  open_ = begun.ok();
  return begun;
}

Status Transaction::commit() {
  Status done = db_->run("COMMIT");
  if (done.ok()) open_ = false;
  return done;
}

}  // namespace radl

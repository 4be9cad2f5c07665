// Opening, reading, and the writes that are no journal.
#include "runtime/state/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/folder_turn.h"
#include "runtime/state/rows.h"
#include "runtime/state/schema.h"
#include "runtime/state/sqlite_store.h"
#include "runtime/state/trace.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

Status check_name(const std::string& name) {
  bool fine = !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
              name.find('\0') == std::string::npos && name.size() <= 200;
  return fine ? Status() : invalid("'" + name + "' cannot be the name of an infrastructure's state");
}

// Which file it is; 0: none.
unsigned long long inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// SQLite makes its log files with the mode of the database, so that is made here, private from its first
// byte. One that is there is never opened beside SQLite: closing it again would drop all locks of this
// process on it, also those of another connection.
Status make_private_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST ? Status() : errno_status(errno, path);
  ::close(fd);
  return {};
}

// Bytes of the database; 0 where there is none. An error where that cannot be determined: that is not "none".
Result<unsigned long long> size_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return static_cast<unsigned long long>(info.st_size);
  if (errno == ENOENT || errno == ENOTDIR) return 0ULL;
  int error = errno;
  return Status(error == EACCES ? Code::Auth : errno_status(error, path).code(),
                errno_status(error, path).message())
      .with_hint("look at the owner and mode of the state's folder");
}

// Fails where the state was lost: there is no database, or an empty one, in a folder that shows that there
// was one. True: there is something to open.
Result<bool> has_database(const std::string& folder, const std::string& path) {
  Result<unsigned long long> size = size_of(path);
  if (!size.ok()) return size.status();
  if (*size > 0) return true;
  std::string found = trace_of_state(folder);
  if (found.empty()) return false;
  // Another process may have made it since.
  size = size_of(path);
  if (!size.ok()) return size.status();
  return *size > 0 ? Result<bool>(true) : Result<bool>(lost_state(folder, found));
}

Status initialise(Database& db, const std::string& name, World& world) {
  if (Status wal = db.exec("PRAGMA journal_mode=WAL"); !wal.ok()) return wal;
  Transaction transaction(db);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  Result<int> version = state_version(db);
  if (!version.ok()) return version.status();
  if (*version != 0) return {};  // somebody else was faster
  if (Status made = create_schema(db); !made.ok()) return made;
  const std::pair<const char*, std::string> rows[] = {{"name", name},
                                                      {"lineage", random_token(world.random)},
                                                      {"salt", random_token(world.random)},
                                                      {"serial", "0"}};
  for (const auto& [key, value] : rows) {
    if (Status put = write_meta(db, key, value); !put.ok()) return put;
  }
  return transaction.commit();
}

Status bring_up_to_date(Database& db, const std::string& folder, const std::string& name, OpenMode mode,
                        World& world) {
  Result<int> version = state_version(db);
  if (!version.ok()) return version.status();
  if (*version == kStateVersion) return {};
  if (*version == 0) {
    if (std::string found = trace_of_state(folder); !found.empty()) return lost_state(folder, found);
    return mode == OpenMode::Create ? initialise(db, name, world)
                                    : not_found("there is no state of '" + name + "' yet");
  }
  if (mode == OpenMode::Read) {
    Result<Database> copy = db.copy_in_memory();  // reading never changes a byte of the file
    if (!copy.ok()) return copy.status();
    db = std::move(*copy);
  }
  return migrate(db, *version, kStateVersion, migrations());
}

Status leave_id(Database& db, const std::string& folder) {
  Result<std::string> name = read_meta(db, "name"), lineage = read_meta(db, "lineage");
  if (!name.ok()) return name.status();
  if (!lineage.ok()) return lineage.status();
  return write_id(folder, infrastructure_tag(*name, *lineage));
}

Status no_state(const std::string& directory, const std::string& name) {
  return Status(Code::NotFound, "there is no state of '" + name + "' in " + directory)
      .with_hint("`radlc apply` makes it; --state names another place");
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& directory, const std::string& name,
                                           OpenMode mode, World& world) {
  if (Status fine = check_name(name); !fine.ok()) return fine;
  std::string folder = directory + "/" + name;
  std::string path = folder + "/state.db";
  if (mode != OpenMode::Create) {
    Result<bool> there = has_database(folder, path);
    if (!there.ok()) return there.status();
    if (!*there) return no_state(directory, name);
  }
  bool writable = mode != OpenMode::Read;
  if (writable) {
    for (const std::string& made : {directory, folder}) {
      if (Status status = make_directories(made, 0700); !status.ok()) return status;
    }
  }
  // SQLite does not wait for another process while a new database is put into WAL mode, so the first opening
  // is one at a time: a lock on the folder, gone with this call (or this process).
  FolderTurn turn(writable ? folder : "");
  if (writable) {
    if (Result<bool> there = has_database(folder, path); !there.ok()) return there.status();
    for (const std::string& made : {folder + "/work", folder + "/logs"}) {
      if (Status status = make_directories(made, 0700); !status.ok()) return status;
    }
    if (Status made = make_private_file(path); !made.ok()) return made;
  }
  Result<Database> db = Database::open(path, writable ? Database::Access::ReadWrite : Database::Access::Read);
  if (!db.ok()) return db.status();
  if (writable && db->read_only()) {
    return Status(Code::Auth, path + " is read-only").with_hint("look at its owner and mode");
  }
  if (Status ready = bring_up_to_date(*db, folder, name, mode, world); !ready.ok())
    return ready.message().starts_with(path) ? std::move(ready) : std::move(ready).at(path);
  if (writable) {
    if (Status left = leave_id(*db, folder); !left.ok()) return left;
  }
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(*db), folder, world, writable));
}

SqliteStore::SqliteStore(Database db, std::string folder, World& world, bool writable)
    : db_(std::move(db)),
      folder_(std::move(folder)),
      world_(world),
      writable_(writable),
      inode_(inode_of(path())),
      file_lock_(folder_ + "/lock") {}

SqliteStore::~SqliteStore() { unlock(); }

Result<SqliteStore::Attempt> SqliteStore::try_lock(const LockInfo& self, LockInfo& holder) {
  std::lock_guard guard(mutex_);
  Transaction transaction(db_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  Result<std::optional<LockInfo>> row = read_lock(db_);
  if (!row.ok()) return row.status();
  if (row->has_value() && !owner_is_dead(**row, file_lock_)) {
    holder = **row;
    return Attempt::Held;
  }
  if (!file_lock_.take()) {
    holder = row->value_or(self);
    return Attempt::Held;
  }
  if (Status put = write_lock(db_, self); !put.ok()) return put;
  if (Status done = transaction.commit(); !done.ok()) return done;
  lock_id_ = self.id;
  return Attempt::Taken;
}

Status SqliteStore::lock(const std::string& command, std::chrono::milliseconds timeout,
                         const std::function<void(const LockInfo&)>& waiting,
                         const std::function<bool()>& cancelled) {
  if (!writable_) return internal_error("a state that was opened for reading cannot be locked");
  LockInfo self = describe_self(command, world_), holder;
  auto end = world_.clock.now() + timeout;
  bool told = false;
  while (true) {
    Result<Attempt> attempt = try_lock(self, holder);
    if (!attempt.ok() && attempt.status().code() != Code::Conflict) return attempt.status();
    if (attempt.ok() && *attempt == Attempt::Taken) {
      if (inode_of(path()) == inode_) return {};
      unlock();
      return {Code::Lost, "the state was removed while this run waited for its lock"};
    }
    if (cancelled && cancelled()) return {Code::Cancelled, "stopped while waiting for the state's lock"};
    if (world_.clock.now() >= end) {
      std::string who = attempt.ok() ? "the state is locked: " + holder.text() : attempt.status().message();
      return Status(Code::Conflict, who)
          .with_hint(
              "wait for it with --lock-timeout SECONDS, or, when it is gone for good, `radlc state unlock " +
              holder.id + "`");
    }
    if (!told && waiting && attempt.ok()) waiting(holder);
    told = true;
    world_.clock.sleep(std::chrono::milliseconds(100));
  }
}

void SqliteStore::unlock() {
  std::lock_guard guard(mutex_);
  if (lock_id_.empty()) return;
  (void)clear_lock(db_, lock_id_);  // if that fails, the next run sees that the owner is dead
  lock_id_.clear();
  file_lock_.release();
}

Result<std::optional<LockInfo>> SqliteStore::lock_holder() {
  std::lock_guard guard(mutex_);
  Result<std::optional<LockInfo>> row = read_lock(db_);
  if (row.ok() && row->has_value() && writable_ && owner_is_dead(**row, file_lock_))
    return std::optional<LockInfo>();
  return row;
}

Status SqliteStore::force_unlock(const std::string& lock_id) {
  std::lock_guard guard(mutex_);
  Transaction transaction(db_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  Result<std::optional<LockInfo>> row = read_lock(db_);
  if (!row.ok()) return row.status();
  if (!row->has_value()) return not_found("the state is not locked");
  if ((*row)->id != lock_id) return {Code::Conflict, "the state is held by another lock: " + (*row)->text()};
  if (Status cleared = clear_lock(db_, lock_id); !cleared.ok()) return cleared;
  return transaction.commit();
}

Result<Snapshot> SqliteStore::snapshot() {
  std::lock_guard guard(mutex_);
  Transaction transaction(db_);
  if (Status begun = transaction.begin(false); !begun.ok()) return begun;
  return read_snapshot(db_);
}

Result<std::vector<HistoryEntry>> SqliteStore::history(size_t newest) {
  std::lock_guard guard(mutex_);
  Result<Statement> rows = db_.prepare(
      "SELECT serial, time, command, summary, source_digest FROM history ORDER BY id DESC LIMIT ?");
  if (!rows.ok()) return rows.status();
  rows->bind(1, static_cast<long long>(newest));
  std::vector<HistoryEntry> entries;
  while (true) {
    Result<bool> row = rows->step();
    if (!row.ok()) return row.status();
    if (!*row) return entries;
    entries.push_back({rows->integer(0), rows->real(1), rows->text(2), rows->text(3), rows->text(4)});
  }
}

Status SqliteStore::write(const std::function<Status()>& work) {
  std::lock_guard guard(mutex_);
  if (lock_id_.empty()) return internal_error("the state was written without its lock");
  Transaction transaction(db_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  Result<std::optional<LockInfo>> row = read_lock(db_);
  if (!row.ok()) return row.status();
  if (!row->has_value() || (*row)->id != lock_id_) {
    std::string who = row->has_value() ? (*row)->text() : "nobody";
    return {Code::Conflict, "the state's lock was taken away from this run; it is held by " + who};
  }
  if (Status worked = work(); !worked.ok()) return worked;
  Status grown = db_.exec("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'serial'");
  if (!grown.ok()) return grown;
  return transaction.commit();
}

Status SqliteStore::put_resource(const ResourceRecord& record) {
  return write([&] { return write_resource(db_, record); });
}

Status SqliteStore::remove_resource(const std::string& address) {
  return write([&]() -> Status {
    // Else the next run would go on with what was begun on it: destroy it, or put its record back.
    Result<Statement> row = db_.prepare(
        "UPDATE journal SET closed_at = ?, outcome = 'forgotten' "
        "WHERE closed_at IS NULL AND address = ? AND kind IN ('update', 'destroy')");
    if (!row.ok()) return row.status();
    if (Status run = row->bind(1, world_.clock.wall_seconds()).bind(2, address).run(); !run.ok()) return run;
    return remove_with_steps(address, false);
  });
}

Status SqliteStore::remove_with_steps(const std::string& address, bool keep_steps) {
  Result<Statement> resource = db_.prepare("DELETE FROM resources WHERE address = ?");
  if (!resource.ok()) return resource.status();
  if (Status gone = resource->bind(1, address).run(); !gone.ok() || keep_steps) return gone;
  Result<Statement> own = db_.prepare("DELETE FROM steps WHERE nodes = ?");
  if (!own.ok()) return own.status();
  if (Status gone = own->bind(1, Json::array({address}).dump()).run(); !gone.ok()) return gone;
  return db_.exec(
      "DELETE FROM steps WHERE wide = 1 AND NOT EXISTS "
      "(SELECT 1 FROM json_each(steps.nodes) JOIN resources ON address = json_each.value)");
}

Status SqliteStore::forget_step(const std::string& id) {
  return write([&] { return delete_step(id); });
}

Status SqliteStore::write_outputs(const std::vector<OutputRecord>& outputs) {
  if (Status cleared = db_.exec("DELETE FROM outputs"); !cleared.ok()) return cleared;
  Result<Statement> row = db_.prepare(
      "INSERT INTO outputs (position, name, value, description, sensitive) VALUES (?, ?, ?, ?, ?)");
  if (!row.ok()) return row.status();
  int position = 0;
  for (const OutputRecord& output : outputs) {
    row->reset();
    std::string value =
        (output.sensitive ? Json() : output.value).dump(-1, ' ', false, Json::error_handler_t::replace);
    row->bind(1, position++)
        .bind(2, output.name)
        .bind(3, value)
        .bind(4, output.description)
        .bind(5, output.sensitive);
    if (Status put = row->run(); !put.ok()) return put;
  }
  return {};
}

Status SqliteStore::close_run(const std::vector<OutputRecord>& outputs,
                              const std::map<std::string, std::string>& secrets,
                              const std::string& source_digest, const std::vector<std::string>& source_paths,
                              const std::string& command, const std::string& summary) {
  return write([&]() -> Status {
    if (Status put = write_outputs(outputs); !put.ok()) return put;
    if (Status cleared = db_.exec("DELETE FROM secrets"); !cleared.ok()) return cleared;
    for (const auto& [name, fingerprint] : secrets) {
      Result<Statement> row = db_.prepare("INSERT INTO secrets (name, fingerprint) VALUES (?, ?)");
      if (!row.ok()) return row.status();
      if (Status put = row->bind(1, name).bind(2, fingerprint).run(); !put.ok()) return put;
    }
    if (Status put = write_meta(db_, "source_digest", source_digest); !put.ok()) return put;
    if (Status put = write_meta(db_, "source_paths", Json(source_paths).dump()); !put.ok()) return put;
    Status swept = db_.exec("DELETE FROM definitions WHERE sha256 NOT IN (SELECT definition FROM steps)");
    if (!swept.ok()) return swept;
    Result<Statement> row = db_.prepare(
        "INSERT INTO history (serial, time, command, summary, source_digest) "
        "SELECT CAST(value AS INTEGER) + 1, ?, ?, ?, ? FROM meta WHERE key = 'serial'");
    if (!row.ok()) return row.status();
    row->bind(1, world_.clock.wall_seconds()).bind(2, command).bind(3, summary).bind(4, source_digest);
    return row->run();
  });
}

}  // namespace radl

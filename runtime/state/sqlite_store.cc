// A state in files: opening it, and its lock.
#include "runtime/state/sqlite_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/apply_change.h"
#include "runtime/state/folder_turn.h"
#include "runtime/state/home.h"
#include "runtime/state/job_lease.h"
#include "runtime/state/place.h"
#include "runtime/state/rows.h"
#include "runtime/state/schema.h"
#include "runtime/state/trace.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

// Which file it is; 0: none.
unsigned long long inode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// SQLite creates its log files with the database's mode, so the database is created here, private from its
// first byte. An existing file is never opened beside SQLite: closing it would drop all locks of this process
// on it, including those of other connections.
Status make_private_file(const std::string& path) {
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST ? Status() : errno_status(errno, path);
  ::close(fd);
  return {};
}

// Size of the database in bytes; 0 if it does not exist. An error if that cannot be determined.
Result<unsigned long long> size_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0) return static_cast<unsigned long long>(info.st_size);
  if (errno == ENOENT || errno == ENOTDIR) return 0ULL;
  int error = errno;
  return Status(error == EACCES ? Code::Auth : errno_status(error, path).code(),
                errno_status(error, path).message())
      .with_hint("check the owner and mode of the folder with the state");
}

// Fails if the state was lost: the database is missing or empty in a folder that shows that there was one.
// True: there is a database to open.
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
  return make_empty_state(db, name, world);
}

Status bring_up_to_date(Database& db, const std::string& folder, const std::string& name, OpenMode mode,
                        World& world) {
  Result<int> version = state_version(db);
  if (!version.ok()) return version.status();
  if (*version == kStateVersion) return {};
  if (*version == 0) {
    if (std::string found = trace_of_state(folder); !found.empty()) return lost_state(folder, found);
    return mode == OpenMode::Create ? initialise(db, name, world)
                                    : not_found("no state of '" + name + "' yet");
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

// Checked before SQLite opens it: on a read-only file system, SQLite reports a missing file, because it
// creates further files beside the database.
Status may_write(const std::string& folder, const std::string& path) {
  for (const std::string& part : {folder, path}) {
    if (::faccessat(AT_FDCWD, part.c_str(), W_OK, AT_EACCESS) == 0) continue;
    const int error = errno;
    return Status(Code::Auth, fmt::format("{}: cannot write the state ({})", part, std::strerror(error)))
        .with_hint(
            error == EROFS
                ? "its file system is mounted read-only; only commands that read work, such as plan and show"
                : "check its owner and mode");
  }
  return {};
}

Status no_state(const std::string& directory, const std::string& name) {
  return Status(Code::NotFound, "no state of '" + name + "' in " + directory)
      .with_hint("run `radlc apply` to create it, or pass another place with --state");
}

}  // namespace

Result<std::unique_ptr<Store>> SqliteStore::open(const std::string& directory, const std::string& name,
                                                 OpenMode mode, World& world) {
  if (Status fine = check_state_name(name); !fine.ok()) return fine;
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
    if (Status may = may_write(folder, path); !may.ok()) return may;
  }
  Result<Database> db = Database::open(path, writable ? Database::Access::ReadWrite : Database::Access::Read);
  if (!db.ok()) return db.status();
  if (writable && db->read_only()) return Status(Code::Auth, path + ": cannot write the state");
  if (Status ready = bring_up_to_date(*db, folder, name, mode, world); !ready.ok())
    return ready.message().starts_with(path) ? std::move(ready) : std::move(ready).at(path);
  if (writable) {
    if (Status left = leave_id(*db, folder); !left.ok()) return left;
  }
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(std::move(*db), folder, world, writable));
}

SqliteStore::SqliteStore(Database db, std::string folder, World& world, bool writable)
    : DatabaseStore(std::move(db), world),
      folder_(std::move(folder)),
      writable_(writable),
      inode_(inode_of(path())),
      file_lock_(folder_ + "/lock", writable) {}

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
    // The row is gone or its owner is dead, but a process holds the file: its lock was removed while it
    // lives, or it is about to end.
    const int pid = file_lock_.other_holder();
    return Status(Code::Conflict, "a run that has lost the state's lock has not ended" +
                                      (pid > 0 ? ": process " + std::to_string(pid) : std::string()));
  }
  if (Status settled = settle_in(db_, folder_); !settled.ok()) {
    file_lock_.release();
    return settled;
  }
  if (Status put = write_lock(db_, self); !put.ok()) return put;
  if (Status done = transaction.commit(); !done.ok()) return done;
  lock_id_ = self.id;
  return Attempt::Taken;
}

Status SqliteStore::lock(const std::string& command, std::chrono::milliseconds timeout,
                         const std::function<void(const LockInfo&)>& waiting, const Stop& stop) {
  if (!writable_) return internal_error("a state that was opened for reading cannot be locked");
  LockInfo self = describe_self(command, principal_, world_), holder;
  auto end = world_.clock.now() + timeout;
  bool told = false;
  while (true) {
    holder = {};
    Result<Attempt> attempt = try_lock(self, holder);
    if (!attempt.ok() && attempt.status().code() != Code::Conflict) return attempt.status();
    if (attempt.ok() && *attempt == Attempt::Taken) {
      principal_ = self.principal;
      if (inode_of(path()) == inode_) return {};
      unlock();
      return {Code::Lost, "the state was removed while this run waited for its lock"};
    }
    if (world_.clock.now() >= end) {
      std::string who = attempt.ok() ? "the state is locked: " + holder.text() : attempt.status().message();
      if (holder.id.empty())
        return Status(Code::Conflict, who)
            .with_hint("end that process, or wait for it with --lock-timeout SECONDS");
      return Status(Code::Conflict, who)
          .with_hint(
              "wait for it with --lock-timeout SECONDS, or, when it is gone for good, `radlc state unlock " +
              holder.id + "`");
    }
    if (!told && waiting && attempt.ok()) waiting(holder);
    told = true;
    if (!sleep_unless(world_.clock, std::chrono::milliseconds(100), stop))
      return {stop.check().code(), "stopped while waiting for the state's lock: " + holder.text()};
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
  return at_work(0);
}

Result<std::string> SqliteStore::copy_of() { return original_of(db_, folder_); }

Status SqliteStore::adopt() {
  std::lock_guard guard(mutex_);
  Transaction transaction(db_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  if (Status put = record_home(db_, folder_); !put.ok()) return put;
  return transaction.commit();
}

Result<std::optional<LockInfo>> SqliteStore::at_work(size_t /*open_intents*/) {
  Result<std::optional<LockInfo>> row = read_lock(db_);
  if (row.ok() && row->has_value() && (*row)->id != lock_id_ && owner_is_dead(**row, file_lock_))
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

Result<std::unique_ptr<JobLease>> SqliteStore::lease_job(const std::string& step, const std::string& command,
                                                         bool take_over, const Stop& stop) {
  return take_lease(folder_, step, describe_self(command, principal_, world_), take_over, world_.clock, stop);
}

Result<std::optional<LockInfo>> SqliteStore::supervisor_of(const std::string& step) {
  return lease_holder(folder_, step);
}

Status SqliteStore::replace(Database db) {
  std::lock_guard guard(mutex_);
  if (lock_id_.empty()) return internal_error("the state was written without its lock");
  if (Status held = check_held(); !held.ok()) return held;
  Result<std::optional<LockInfo>> own = read_lock(db_);
  if (!own.ok()) return own.status();
  if (Status put = write_lock(db, **own); !put.ok()) return put;
  if (Status put = record_home(db, folder_); !put.ok()) return put;
  if (Status written = db_.overwrite(db); !written.ok()) return written;
  return leave_id(db_, folder_);
}

Status SqliteStore::check_held() {
  Result<std::optional<LockInfo>> row = read_lock(db_);
  if (!row.ok()) return row.status();
  if (row->has_value() && (*row)->id == lock_id_) return {};
  std::string who = row->has_value() ? (*row)->text() : "nobody";
  return {Code::Conflict, "the state's lock was taken away from this run; it is held by " + who};
}

}  // namespace radl

#include "runtime/state/copy.h"

#include <algorithm>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/database_store.h"
#include "runtime/state/document.h"
#include "runtime/state/rows.h"

namespace radl {

namespace {

namespace fs = std::filesystem;
using Opened = Result<std::unique_ptr<Store>>;

constexpr size_t kLargestFile = size_t{4} << 30;

DatabaseStore& inner(const Opened& store) { return static_cast<DatabaseStore&>(**store); }

Opened open_for_writing(const std::string& directory, const std::string& name, OpenMode mode,
                        const std::string& command, std::chrono::milliseconds timeout, World& world) {
  Opened store = Store::open(directory, name, mode, world);
  if (!store.ok()) return store;
  Status locked = (*store)->lock(command, timeout);
  return locked.ok() ? std::move(store) : Opened(locked);
}

bool holds_nothing(const Snapshot& snapshot) { return snapshot.empty() && snapshot.open_intents == 0; }

// Whether `given` may take the place of `there`.
Status may_replace(const Snapshot& there, const Snapshot& given) {
  if (holds_nothing(there)) return {};
  if (there.lineage != given.lineage) {
    return Status(Code::Conflict, "another infrastructure of this name exists (lineage " +
                                      there.lineage.substr(0, 8) + ", not " + given.lineage.substr(0, 8) +
                                      ")")
        .with_hint("pass another place with --state, or --force to forget the existing state");
  }
  if (there.serial > given.serial) {
    return Status(Code::Conflict, "the existing state is newer: serial " + std::to_string(there.serial) +
                                      " against " + std::to_string(given.serial))
        .with_hint("another run has written it since; --force would forget what that run created");
  }
  return {};
}

Result<Database> state_in(const std::string& file) {
  Result<std::string> bytes = read_file(file, kLargestFile);
  if (!bytes.ok()) return bytes.status();
  return from_document(*bytes, file);
}

Status check_movable(const Snapshot& snapshot) {
  for (const auto& [address, record] : snapshot.resources) {
    if (record.cloud != "local" || !record.is_node()) continue;
    return Status(Code::Conflict, address + " is a node of this computer, and lives in the state's folder")
        .with_hint("`radlc destroy` it first, and apply it with the new place");
  }
  return {};
}

}  // namespace

Status copy_folder(const std::string& from, const std::string& to) {
  std::error_code error;
  if (!fs::exists(from, error)) return {};
  fs::copy(
      from, to,
      fs::copy_options::recursive | fs::copy_options::overwrite_existing | fs::copy_options::copy_symlinks,
      error);
  return error ? errno_status(error.value(), from) : Status();
}

Result<std::string> copied_state(const std::string& directory, const std::string& name, World& world) {
  Opened store = Store::open(directory, name, OpenMode::Read, world);
  return store.ok() ? inner(store).whole_bytes() : store.status();
}

Status push_state(const std::string& file, const std::string& directory, const std::string& name,
                  const PushOptions& options, World& world) {
  Result<Database> db = state_in(file);
  if (!db.ok()) return db.status();
  Result<Snapshot> given = read_snapshot(*db);
  if (!given.ok()) return given.status();
  if (given->name != name) {
    return Status(Code::Conflict, file + " is the state of '" + given->name + "'")
        .with_hint("--name " + given->name);
  }
  Opened store =
      open_for_writing(directory, name, OpenMode::Create, "state push", options.lock_timeout, world);
  if (!store.ok()) return store.status();
  Result<Snapshot> there = (*store)->snapshot();
  if (!there.ok()) return there.status();
  Status may = options.force ? Status() : may_replace(*there, *given);
  return may.ok() ? inner(store).replace(std::move(*db)) : may;
}

Status migrate_state(const std::string& from, const std::string& to, const std::string& name,
                     std::chrono::milliseconds lock_timeout, World& world) {
  if (from == to) return invalid("the state is in " + from + " already");
  Opened old_store = open_for_writing(from, name, OpenMode::Write, "state migrate", lock_timeout, world);
  if (!old_store.ok()) return old_store.status();
  Result<Snapshot> given = (*old_store)->snapshot();
  if (!given.ok()) return given.status();
  if (Status movable = check_movable(*given); !movable.ok()) return movable;
  Opened new_store = open_for_writing(to, name, OpenMode::Create, "state migrate", lock_timeout, world);
  if (!new_store.ok()) return new_store.status();
  Result<Snapshot> there = (*new_store)->snapshot();
  if (!there.ok()) return there.status();
  if (Status may = may_replace(*there, *given); !may.ok()) return may;
  const Store &before = **old_store, &after = **new_store;
  if (Status copied = copy_folder(before.work_directory(), after.work_directory()); !copied.ok())
    return copied;
  if (Status copied = copy_folder(before.log_directory(), after.log_directory()); !copied.ok()) return copied;
  if (Status copied = copy_folder(before.run_directory(), after.run_directory()); !copied.ok()) return copied;
  Result<std::string> bytes = inner(old_store).whole_bytes();
  if (!bytes.ok()) return bytes.status();
  Result<Database> db = from_document(*bytes, before.path());
  if (!db.ok()) return db.status();
  if (Status written = inner(new_store).replace(std::move(*db)); !written.ok()) return written;
  return inner(old_store).remove();
}

}  // namespace radl

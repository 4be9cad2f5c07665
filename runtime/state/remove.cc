// Removes a state. The order of its files ensures that a killed run leaves either a state or remains that
// sweep_unmade_states() removes.
#include <algorithm>
#include <array>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/folder_turn.h"
#include "runtime/state/place.h"
#include "runtime/state/schema.h"
#include "runtime/state/sqlite_store.h"
#include "runtime/state/trace.h"

namespace radl {

namespace fs = std::filesystem;

namespace {

// In the order of their removal. Without the first, the second is as good as before; without that, SQLite
// takes no notice of the others.
constexpr std::array kFiles{kIdFile, "state.db", "state.db-wal", "state.db-shm", "state.db-journal", "lock"};
constexpr std::array kFolders{"work", "logs", "runs", "leases"};

Status remove_files(const std::string& folder) {
  std::error_code error;
  for (const char* name : kFiles) {
    fs::remove(folder + "/" + name, error);
    if (error) return errno_status(error.value(), folder + "/" + name);
  }
  return {};
}

// Removes the folder of states after the last one, if radlc created it itself.
void remove_if_empty(const std::string& directory) {
  std::error_code ignored;
  if (fs::path(directory).filename() == ".radl") fs::remove(directory, ignored);
}

bool holds_a_state(const std::string& folder) {
  std::error_code error;
  std::string path = folder + "/state.db";
  if (!fs::exists(path, error) || fs::file_size(path, error) == 0) return static_cast<bool>(error);
  Result<Database> db = Database::open(path, Database::Access::ReadWrite);
  if (!db.ok()) return true;  // whatever it is, it is not nothing
  Result<int> version = state_version(*db);
  return !version.ok() || *version != 0;
}

// Nothing but what Store::open makes before there is a state, and remove_state() leaves when it is killed.
bool only_remains(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::string name = at->path().filename();
    if (name == kIdFile) return false;
    bool file = std::find(kFiles.begin(), kFiles.end(), name) != kFiles.end();
    bool empty_folder = std::find(kFolders.begin(), kFolders.end(), name) != kFolders.end() &&
                        fs::is_empty(at->path(), error);
    if (!file && !empty_folder) return false;
  }
  return !error;
}

}  // namespace

Status remove_state(const std::string& directory, const std::string& name, World& world, const Stop& stop) {
  Result<std::unique_ptr<Store>> store = Store::open(directory, name, OpenMode::Write, world, stop);
  if (!store.ok()) return store.status();
  // Held until the end: a process that waits for it finds the state removed (Store::lock) and does not
  // continue in it.
  if (Status locked = (*store)->lock("state remove", std::chrono::milliseconds(0), {}, stop); !locked.ok())
    return locked;
  Result<Snapshot> snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  if (!snapshot->resources.empty() || snapshot->open_intents != 0) {
    return Status(Code::Conflict, "the state of '" + name + "' still holds " +
                                      std::to_string(snapshot->resources.size()) + " resources")
        .with_hint("`radlc destroy` removes them");
  }
  return static_cast<DatabaseStore&>(**store).remove();
}

Status discard_copy(const std::string& directory, const std::string& name, World& world) {
  Result<std::unique_ptr<Store>> store = Store::open(directory, name, OpenMode::Write, world);
  if (!store.ok()) return store.status();
  Result<Snapshot> snapshot = (*store)->snapshot();
  if (!snapshot.ok()) return snapshot.status();
  if (snapshot->copy_of.empty())
    return Status(Code::Conflict,
                  "the state of '" + name + "' in " + directory + " is not known to be a copy, so it is kept")
        .with_hint("`radlc destroy` removes its resources and the state");
  if (!snapshot->at_work.empty()) return Status(Code::Conflict, snapshot->at_work + ", is at work in it");
  return static_cast<DatabaseStore&>(**store).remove();
}

Status SqliteStore::remove() {
  for (const char* below : kFolders) {
    if (Status gone = world_.files.remove_tree(folder_ + "/" + below); !gone.ok()) return gone;
  }
  if (Status gone = remove_files(folder_); !gone.ok()) return gone;
  unlock();
  // Only if it is empty: a run that waited for the lock may have begun a new state, and other files belong to
  // the user.
  std::error_code left;
  fs::remove(folder_, left);
  if (left && left != std::errc::directory_not_empty) return errno_status(left.value(), folder_);
  remove_if_empty(fs::path(folder_).parent_path().string());
  return {};
}

Status sweep_unmade_states(const std::string& directory) {
  if (is_bucket_place(directory)) return {};  // there a state is made and removed at one stroke
  std::error_code error;
  std::vector<std::string> folders;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    if (at->is_directory(error) && !at->is_symlink(error)) folders.push_back(at->path());
  }
  for (const std::string& folder : folders) {
    FolderTurn turn(folder);
    if (!only_remains(folder) || holds_a_state(folder)) continue;
    if (Status gone = remove_files(folder); !gone.ok()) return gone;
    for (const char* below : kFolders) fs::remove(folder + "/" + below, error);
    fs::remove(folder, error);
  }
  remove_if_empty(directory);
  return {};
}

}  // namespace radl

// The state's lock: a row that names the owner, and a file lock that the kernel releases when the owner dies.
// Internal to runtime/state.
#pragma once

#include <optional>
#include <string>

#include "runtime/state/database.h"
#include "runtime/state/store.h"

namespace radl {

// An advisory lock on a whole file, per open file description (F_OFD_SETLK). It ends with this object or the
// process. Other objects of this process count as other owners.
class FileLock {
 public:
  enum class Holder { Nobody, Another, Unknown };  // Unknown: the file system does not support such locks
  // `writable`: the lock may be taken, and the file is created; otherwise it can only be queried.
  FileLock(std::string path, bool writable) : path_(std::move(path)), writable_(writable) {}
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  Holder holder();     // other than this object
  int other_holder();  // its process ID; 0: none, or the file does not name it
  Status opened();     // why the file cannot be opened
  bool take();         // also true if it cannot be opened or the file system has no such locks
  void release();
  bool is_at_its_path();                  // false: the path has another file now, or none
  Status write(const std::string& text);  // replaces the content

 private:
  int open();
  std::string path_;
  bool writable_;
  int fd_ = -1;
};

// `principal`: the requesting user; "": the user of this process.
LockInfo describe_self(const std::string& command, const std::string& principal, World& world);
// True only if it is certain: on the same kernel, nobody holds the file or the process does not exist; or the
// same host has rebooted since.
bool owner_is_dead(const LockInfo& lock, FileLock& file);

Result<std::optional<LockInfo>> read_lock(Database& db);
Status write_lock(Database& db, const LockInfo& lock);
Status clear_lock(Database& db, const std::string& id);

}  // namespace radl

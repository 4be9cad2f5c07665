// The one lock: a row that says who, and a lock on a file that the kernel takes back when its owner dies.
// Internal to runtime/state.
#pragma once

#include <optional>
#include <string>

#include "runtime/state/database.h"
#include "runtime/state/store.h"

namespace radl {

// An advisory lock on a whole file (fcntl): not inherited by children, gone with the process.
class FileLock {
 public:
  // `writable`: it may be taken, and the file is made for that; else it can only be asked for.
  FileLock(std::string path, bool writable) : path_(std::move(path)), writable_(writable) {}
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held_by_another();  // by another process
  int other_holder();      // its process id; 0: none, or one that cannot be told
  bool take();             // true also where the file system has no such locks
  void release();

 private:
  int open();
  std::string path_;
  bool writable_;
  int fd_ = -1;
};

LockInfo describe_self(const std::string& command, World& world);
// True only when it is certain: same kernel and no such process, or the same host has been started anew
// since.
bool owner_is_dead(const LockInfo& lock, FileLock& file);

Result<std::optional<LockInfo>> read_lock(Database& db);
Status write_lock(Database& db, const LockInfo& lock);
Status clear_lock(Database& db, const std::string& id);

}  // namespace radl

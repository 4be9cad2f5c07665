// The one lock: a row that says who, and a lock on a file that the kernel takes back when its owner dies.
// Internal to runtime/state.
#pragma once

#include <optional>
#include <string>

#include "runtime/state/database.h"
#include "runtime/state/store.h"

namespace radl {

// An advisory lock on a whole file, of one open description (F_OFD_SETLK): it ends with this object or with
// the process, whichever comes first. Other objects of this process are strangers to it.
class FileLock {
 public:
  enum class Holder { Nobody, Another, Unknown };  // Unknown: the file system has no such locks
  // `writable`: it may be taken, and the file is made for that; else it can only be asked for.
  FileLock(std::string path, bool writable) : path_(std::move(path)), writable_(writable) {}
  ~FileLock();
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  Holder holder();     // apart from this object
  int other_holder();  // its process id; 0: nobody holds it, or the file does not say who
  Status opened();     // why the file cannot be opened
  bool take();         // true also if it cannot be opened, or the file system has no such locks
  void release();
  bool is_at_its_path();                  // false: another file is there now, or none
  Status write(const std::string& text);  // in place of what it holds

 private:
  int open();
  std::string path_;
  bool writable_;
  int fd_ = -1;
};

// `principal`: who asked; "": the user of this process.
LockInfo describe_self(const std::string& command, const std::string& principal, World& world);
// True only if it is certain: the same kernel says that nobody holds the file, or there is no such process;
// or the same host was rebooted since.
bool owner_is_dead(const LockInfo& lock, FileLock& file);

Result<std::optional<LockInfo>> read_lock(Database& db);
Status write_lock(Database& db, const LockInfo& lock);
Status clear_lock(Database& db, const std::string& id);

}  // namespace radl

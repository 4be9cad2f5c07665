#include "runtime/state/lock.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/process/process.h"
#include "runtime/state/records.h"

namespace radl {

std::string LockInfo::text() const {
  return command + " by " + owner + " on " + host + ", process " + std::to_string(pid) + ", since " +
         utc_time(since);
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

int FileLock::open() {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), (writable_ ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600);
  return fd_;
}

bool FileLock::held_by_another() {
  if (open() < 0) return false;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(fd_, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
}

int FileLock::other_holder() {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const bool held = open() >= 0 && ::fcntl(fd_, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  return held ? std::max(0, static_cast<int>(whole.l_pid)) : 0;
}

bool FileLock::take() {
  if (open() < 0) return true;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(fd_, F_SETLK, &whole) == 0) return true;
  return errno != EACCES && errno != EAGAIN;
}

void FileLock::release() {
  if (fd_ < 0) return;
  struct flock whole {};
  whole.l_type = F_UNLCK;
  whole.l_whence = SEEK_SET;
  ::fcntl(fd_, F_SETLK, &whole);
}

LockInfo describe_self(const std::string& command, World& world) {
  LockInfo self;
  self.id = random_token(world.random);
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  ::getpwuid_r(::getuid(), &entry, buffer, sizeof buffer, &found);
  self.owner = found ? found->pw_name : "uid " + std::to_string(::getuid());
  self.host = host_name();
  self.pid = ::getpid();
  self.pid_start = process_start_time(self.pid);
  self.boot_id = boot_id();
  self.command = command;
  self.since = world.clock.wall_seconds();
  return self;
}

bool owner_is_dead(const LockInfo& lock, FileLock& file) {
  if (lock.boot_id.empty()) return false;
  // Where the folder is shared, a computer of the same name may hold the file.
  if (lock.boot_id != boot_id()) return lock.host == host_name() && !file.held_by_another();
  bool here = lock.host == host_name();
  bool alive = here && process_start_time(lock.pid) == lock.pid_start && lock.pid_start != 0;
  // A container on the same kernel has process numbers of its own: there the file's lock alone can tell.
  return !alive && !file.held_by_another();
}

Result<std::optional<LockInfo>> read_lock(Database& db) {
  std::optional<LockInfo> lock;
  Status read = for_rows<LockInfo>(db, "", "", [&](LockInfo row, const Statement&) {
    lock = std::move(row);
    return Status();
  });
  if (!read.ok()) return read;
  return lock;
}

Status write_lock(Database& db, const LockInfo& lock) {
  if (Status cleared = db.exec("DELETE FROM lock"); !cleared.ok()) return cleared;
  return put_row(db, lock);
}

Status clear_lock(Database& db, const std::string& id) {
  Result<Statement> row = db.prepare("DELETE FROM lock WHERE id = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, id).run();
}

}  // namespace radl

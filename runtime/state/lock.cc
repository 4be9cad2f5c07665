#include "runtime/state/lock.h"

#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>

#include "runtime/base/process.h"

namespace radl {

std::string LockInfo::text() const {
  return command + " by " + owner + " on " + host + ", process " + std::to_string(pid) + ", since " +
         utc_time(since);
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

int FileLock::open() {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return fd_;
}

bool FileLock::held_by_another() {
  if (open() < 0) return false;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return ::fcntl(fd_, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
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
  if (lock.boot_id != boot_id()) return lock.host == host_name();
  bool here = lock.host == host_name();
  bool alive = here && process_start_time(lock.pid) == lock.pid_start && lock.pid_start != 0;
  // A container on the same kernel has process numbers of its own: there the file's lock alone can tell.
  return !alive && !file.held_by_another();
}

Result<std::optional<LockInfo>> read_lock(Database& db) {
  Result<Statement> row =
      db.prepare("SELECT id, owner, host, pid, pid_start, boot_id, command, since FROM lock WHERE one = 1");
  if (!row.ok()) return row.status();
  Result<bool> found = row->step();
  if (!found.ok()) return found.status();
  if (!*found) return std::optional<LockInfo>();
  LockInfo lock;
  lock.id = row->text(0);
  lock.owner = row->text(1);
  lock.host = row->text(2);
  lock.pid = static_cast<int>(row->integer(3));
  lock.pid_start = static_cast<unsigned long long>(row->integer(4));
  lock.boot_id = row->text(5);
  lock.command = row->text(6);
  lock.since = row->real(7);
  return std::optional<LockInfo>(std::move(lock));
}

Status write_lock(Database& db, const LockInfo& lock) {
  Result<Statement> row = db.prepare(
      "INSERT OR REPLACE INTO lock (one, id, owner, host, pid, pid_start, boot_id, command, since) "
      "VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!row.ok()) return row.status();
  row->bind(1, lock.id).bind(2, lock.owner).bind(3, lock.host).bind(4, lock.pid);
  row->bind(5, static_cast<long long>(lock.pid_start)).bind(6, lock.boot_id).bind(7, lock.command);
  return row->bind(8, lock.since).run();
}

Status clear_lock(Database& db, const std::string& id) {
  Result<Statement> row = db.prepare("DELETE FROM lock WHERE id = ?");
  if (!row.ok()) return row.status();
  return row->bind(1, id).run();
}

}  // namespace radl

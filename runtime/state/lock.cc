#include "runtime/state/lock.h"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "common/files.h"
#include "common/process/process.h"
#include "runtime/state/records.h"

namespace radl {

std::string LockInfo::text() const {
  const std::string who = principal.empty() || principal == owner ? owner : principal + " (as " + owner + ")";
  return command + " by " + who + " on " + host + ", process " + std::to_string(pid) + ", since " +
         utc_time(since);
}

FileLock::~FileLock() {
  if (fd_ >= 0) ::close(fd_);
}

int FileLock::open() {
  if (fd_ < 0) fd_ = ::open(path_.c_str(), (writable_ ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0600);
  return fd_;
}

namespace {

struct flock whole_file(short type) {
  struct flock whole {};
  whole.l_type = type;
  whole.l_whence = SEEK_SET;
  return whole;
}

}  // namespace

FileLock::Holder FileLock::holder() {
  struct flock whole = whole_file(F_WRLCK);
  if (open() < 0 || ::fcntl(fd_, F_OFD_GETLK, &whole) != 0) return Holder::Unknown;
  return whole.l_type == F_UNLCK ? Holder::Nobody : Holder::Another;
}

int FileLock::other_holder() {
  if (holder() != Holder::Another) return 0;
  char text[32] = {};
  return ::pread(fd_, text, sizeof text - 1, 0) > 0 ? std::max(0, std::atoi(text)) : 0;
}

Status FileLock::opened() { return open() >= 0 ? Status() : errno_status(errno, path_); }

bool FileLock::take() {
  if (open() < 0) return true;
  const struct flock whole = whole_file(F_WRLCK);
  if (::fcntl(fd_, F_OFD_SETLK, &whole) != 0) return errno != EACCES && errno != EAGAIN;
  // For messages alone: the kernel does not say who holds such a lock.
  (void)write(std::to_string(::getpid()) + "\n");
  return true;
}

bool FileLock::is_at_its_path() {
  struct stat here {
  }, there{};
  return fd_ >= 0 && ::fstat(fd_, &here) == 0 && ::stat(path_.c_str(), &there) == 0 &&
         here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

Status FileLock::write(const std::string& text) {
  if (::ftruncate(fd_, 0) != 0 || ::lseek(fd_, 0, SEEK_SET) != 0) return errno_status(errno, path_);
  return write_all(fd_, text, path_);
}

void FileLock::release() {
  const struct flock whole = whole_file(F_UNLCK);
  if (fd_ >= 0) ::fcntl(fd_, F_OFD_SETLK, &whole);
}

LockInfo describe_self(const std::string& command, const std::string& principal, World& world) {
  LockInfo self;
  self.id = random_token(world.random);
  passwd entry{};
  passwd* found = nullptr;
  char buffer[4096];
  ::getpwuid_r(::getuid(), &entry, buffer, sizeof buffer, &found);
  self.owner = found ? found->pw_name : "uid " + std::to_string(::getuid());
  self.principal = principal.empty() ? self.owner : principal;
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
  const FileLock::Holder holder = file.holder();
  if (holder == FileLock::Holder::Another) return false;
  // If the folder is shared, a computer of the same name may have the file in a way that is not seen here.
  if (lock.boot_id != boot_id()) return lock.host == host_name();
  // The run has ended, whatever its process does afterwards.
  if (holder == FileLock::Holder::Nobody) return true;
  const bool here = lock.host == host_name();
  return !here || lock.pid_start == 0 || process_start_time(lock.pid) != lock.pid_start;
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

// Preloaded into radlc by local_crash_test.py: SIGKILL just before the n-th call that changes something
// outside the process (RADL_KILL_AT=n, counted from 1), be it a write of the journal, a folder of a node, the
// start of a server or bytes to one. RADL_KILL_ONLY=,mkdir,fork, counts these calls alone. Before it dies it
// says on standard error what it was about to do.
//
// Syncs are not counted, as a kill loses nothing that was written; of writes to one file in a row, and of
// what is removed from one open folder, the first RADL_KILL_ROW (2) are, which is before and within.
// RADL_KILL_ALL=1 counts all of them. RADL_KILL_STOPS=1 stops the process (SIGSTOP) in place of killing it.
//
// The program itself has no hook for this. It is only this process that counts: the variables are taken out
// of the environment at once, and a child that has not become another program yet does not count.
//
// Declares what it replaces by itself: the headers' own declarations carry attributes that would not agree.
#include <dlfcn.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

using Mode = unsigned;
using Size = decltype(sizeof 0);
using Offset = long;

extern "C" {
int getpid() noexcept;
long syscall(long number, ...) noexcept;
}

namespace {

constexpr int kCreate = 0100;                                        // O_CREAT
constexpr int kTemporary = 020000000;                                // O_TMPFILE without O_DIRECTORY
constexpr long kWrite = 1, kKill = 62, kSigkill = 9, kSigstop = 19;  // x86-64

struct Aim {
  int process = 0;
  long at = 0;
  long seen = 0;
  const char* only = nullptr;  // ",mkdir,fork,": these calls alone are points
  bool all = false, stops = false;
  int row = 2;
  int file = -1, in_a_row = 0;  // of the last call that counts or would: with this file or folder
};

Aim& aim() {
  static Aim one;
  return one;
}

__attribute__((constructor)) void take_aim() {
  const char* text = std::getenv("RADL_KILL_AT");
  if (!text) return;
  aim().at = std::atol(text);
  aim().only = std::getenv("RADL_KILL_ONLY");
  aim().all = std::getenv("RADL_KILL_ALL");
  aim().stops = std::getenv("RADL_KILL_STOPS");
  if (const char* row = std::getenv("RADL_KILL_ROW")) aim().row = std::atoi(row);
  unsetenv("RADL_KILL_AT");
  unsetenv("LD_PRELOAD");
  aim().process = getpid();
}

void say(const char* text) { syscall(kWrite, 2, text, std::strlen(text)); }

bool counts() { return aim().process != 0 && aim().process == getpid(); }

void point(const char* call, const char* what, int file = -1) {
  if (!counts()) return;
  aim().in_a_row = file >= 0 && file == aim().file ? aim().in_a_row + 1 : 1;
  aim().file = file;
  if (!aim().all && aim().in_a_row > aim().row) return;
  if (aim().only) {
    char word[32] = ",";
    std::strncat(std::strncat(word, call, 20), ",", 2);
    if (!std::strstr(aim().only, word)) return;
  }
  if (__atomic_add_fetch(&aim().seen, 1, __ATOMIC_SEQ_CST) != aim().at) return;
  say("killed before ");
  say(call);
  say(" ");
  say(what);
  say("\n");
  syscall(kKill, getpid(), aim().stops ? kSigstop : kSigkill);
}

// The real function; a point on the way to it.
template <class Function>
Function* real(const char* name, const char* what = "") {
  point(name, what);
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Function>
Function* real_in(const char* name, int file, const char* what = "") {
  point(name, what, file);
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Function>
Function* real_sync(const char* name) {
  if (aim().all) point(name, "");
  aim().file = -1;  // a row ends with it: the next write is another transaction's
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Function>
Function* quietly(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool makes(int flags) { return flags & (kCreate | kTemporary); }

using Open = int(const char*, int, ...);
using OpenAt = int(int, const char*, int, ...);

int open_by(const char* name, const char* path, int flags, va_list& rest) {
  Mode mode = makes(flags) ? va_arg(rest, Mode) : 0;
  return (makes(flags) ? real<Open>(name, path) : quietly<Open>(name))(path, flags, mode);
}

int open_at_by(const char* name, int folder, const char* path, int flags, va_list& rest) {
  Mode mode = makes(flags) ? va_arg(rest, Mode) : 0;
  return (makes(flags) ? real<OpenAt>(name, path) : quietly<OpenAt>(name))(folder, path, flags, mode);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int fd = open_by("open", path, flags, rest);
  va_end(rest);
  return fd;
}
int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int fd = open_by("open64", path, flags, rest);
  va_end(rest);
  return fd;
}
int openat(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int fd = open_at_by("openat", folder, path, flags, rest);
  va_end(rest);
  return fd;
}
int openat64(int folder, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  int fd = open_at_by("openat64", folder, path, flags, rest);
  va_end(rest);
  return fd;
}

long write(int fd, const void* data, Size size) {
  // What it says to its user changes nothing that outlives it.
  return (fd > 2 ? real_in<decltype(write)>("write", fd) : quietly<decltype(write)>("write"))(fd, data, size);
}
long pwrite(int fd, const void* data, Size size, Offset at) {
  return real_in<decltype(pwrite)>("pwrite", fd)(fd, data, size, at);
}
long pwrite64(int fd, const void* data, Size size, Offset at) {
  return real_in<decltype(pwrite64)>("pwrite64", fd)(fd, data, size, at);
}
int fsync(int fd) { return real_sync<decltype(fsync)>("fsync")(fd); }
int fdatasync(int fd) { return real_sync<decltype(fdatasync)>("fdatasync")(fd); }
int ftruncate(int fd, Offset size) { return real<decltype(ftruncate)>("ftruncate")(fd, size); }
int ftruncate64(int fd, Offset size) { return real<decltype(ftruncate64)>("ftruncate64")(fd, size); }

int mkdir(const char* path, Mode mode) { return real<decltype(mkdir)>("mkdir", path)(path, mode); }
int rmdir(const char* path) { return real<decltype(rmdir)>("rmdir", path)(path); }
int unlink(const char* path) { return real<decltype(unlink)>("unlink", path)(path); }
int unlinkat(int folder, const char* path, int flags) {
  return real_in<decltype(unlinkat)>("unlinkat", folder, path)(folder, path, flags);
}
int remove(const char* path) { return real<decltype(remove)>("remove", path)(path); }
int rename(const char* from, const char* to) { return real<decltype(rename)>("rename", to)(from, to); }
int symlink(const char* to, const char* path) { return real<decltype(symlink)>("symlink", path)(to, path); }
int link(const char* from, const char* to) { return real<decltype(link)>("link", to)(from, to); }
int chmod(const char* path, Mode mode) { return real<decltype(chmod)>("chmod", path)(path, mode); }
int fchmod(int fd, Mode mode) { return real<decltype(fchmod)>("fchmod")(fd, mode); }

int fork() { return real<decltype(fork)>("fork")(); }
int kill(int process, int number) { return real<decltype(kill)>("kill")(process, number); }
int connect(int fd, const void* address, unsigned size) {
  return real<decltype(connect)>("connect")(fd, address, size);
}
long send(int fd, const void* data, Size size, int flags) {
  return real<decltype(send)>("send")(fd, data, size, flags);
}

}  // extern "C"

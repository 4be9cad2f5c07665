// SQLite's file layer with faults: writes that fail, and a kill at the n-th thing done to the files.
//
// While one lives it is SQLite's default; databases opened meanwhile use it until they are closed.
#pragma once

#include <signal.h>
#include <sqlite3.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace radl::test {

class FaultVfs {
 public:
  FaultVfs() {
    base_ = sqlite3_vfs_find(nullptr);
    state() = {};
    vfs_ = *base_;
    vfs_.zName = "radl-fault";
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + base_->szOsFile;
    vfs_.pAppData = base_;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~FaultVfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(base_, 1);
  }
  FaultVfs(const FaultVfs&) = delete;
  FaultVfs& operator=(const FaultVfs&) = delete;

  // From now on every write gives this code; SQLITE_OK: they work again.
  void fail_writes(int code) { state().write_error = code; }
  // SIGKILL to this very process just before the n-th write, sync, truncation or removal (from 1). 0: never.
  void kill_at(long long n) { state().kill_at = n; }
  long long operations() const { return state().operations; }
  // Every sync takes so long from now on, as on a real disk.
  void slow_syncs(std::chrono::milliseconds each) { state().sync_milliseconds = each.count(); }
  long long syncs() const { return state().syncs; }

 private:
  struct State {
    std::atomic<int> write_error{SQLITE_OK};
    std::atomic<long long> kill_at{0}, operations{0}, syncs{0}, sync_milliseconds{0};
    State& operator=(const State& other) {
      write_error = other.write_error.load();
      kill_at = other.kill_at.load();
      operations = other.operations.load();
      syncs = other.syncs.load();
      sync_milliseconds = other.sync_milliseconds.load();
      return *this;
    }
    State() = default;
    State(const State& other) { *this = other; }
  };
  static State& state() {
    static State one;
    return one;
  }
  struct File {
    sqlite3_file base;
    const sqlite3_io_methods* real_methods;
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };
  static File* of(sqlite3_file* file) { return reinterpret_cast<File*>(file); }
  static sqlite3_file* real(sqlite3_file* file) { return of(file)->real(); }
  static void count() {
    if (++state().operations == state().kill_at) ::kill(::getpid(), SIGKILL);
  }

  static int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
    auto* base = static_cast<sqlite3_vfs*>(vfs->pAppData);
    File* mine = of(file);
    std::memset(mine, 0, sizeof *mine);
    int code = base->xOpen(base, name, mine->real(), flags, out);
    if (mine->real()->pMethods) mine->base.pMethods = &methods();
    return code;
  }
  static int remove(sqlite3_vfs* vfs, const char* name, int sync) {
    count();
    auto* base = static_cast<sqlite3_vfs*>(vfs->pAppData);
    return base->xDelete(base, name, sync);
  }
  static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
    count();
    if (int error = state().write_error) return error;
    return real(file)->pMethods->xWrite(real(file), data, size, at);
  }
  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    count();
    return real(file)->pMethods->xTruncate(real(file), size);
  }
  static int sync(sqlite3_file* file, int flags) {
    count();
    ++state().syncs;
    if (auto each = state().sync_milliseconds.load())
      std::this_thread::sleep_for(std::chrono::milliseconds(each));
    return real(file)->pMethods->xSync(real(file), flags);
  }
  static const sqlite3_io_methods& methods() {
    static const sqlite3_io_methods all = [] {
      sqlite3_io_methods m{};
      m.iVersion = 2;
      m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
      m.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
        return real(f)->pMethods->xRead(real(f), to, size, at);
      };
      m.xWrite = write;
      m.xTruncate = truncate;
      m.xSync = sync;
      m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) {
        return real(f)->pMethods->xFileSize(real(f), size);
      };
      m.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
      m.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
      m.xCheckReservedLock = [](sqlite3_file* f, int* out) {
        return real(f)->pMethods->xCheckReservedLock(real(f), out);
      };
      m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
        return real(f)->pMethods->xFileControl(real(f), op, arg);
      };
      m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
      m.xDeviceCharacteristics = [](sqlite3_file* f) {
        return real(f)->pMethods->xDeviceCharacteristics(real(f));
      };
      m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
        return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
      };
      m.xShmLock = [](sqlite3_file* f, int offset, int n, int flags) {
        return real(f)->pMethods->xShmLock(real(f), offset, n, flags);
      };
      m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
      m.xShmUnmap = [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); };
      return m;
    }();
    return all;
  }

  sqlite3_vfs* base_;
  sqlite3_vfs vfs_;
};

}  // namespace radl::test

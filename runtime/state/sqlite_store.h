// The Store in SQLite files of a folder. Internal to runtime/state.
#pragma once

#include "runtime/state/database_store.h"
#include "runtime/state/lock.h"

namespace radl {

class SqliteStore : public DatabaseStore {
 public:
  static Result<std::unique_ptr<Store>> open(const std::string& directory, const std::string& name,
                                             OpenMode mode, World& world);
  SqliteStore(Database db, std::string folder, World& world, bool writable);
  ~SqliteStore() override;

  Status lock(const std::string& command, std::chrono::milliseconds timeout,
              const std::function<void(const LockInfo&)>& waiting, const Stop& stop) override;
  void unlock() override;
  Result<std::optional<LockInfo>> lock_holder() override;
  Status adopt() override;
  Status force_unlock(const std::string& lock_id) override;
  Result<std::unique_ptr<JobLease>> lease_job(const std::string& step, const std::string& command,
                                              bool take_over, const Stop& stop) override;

  std::string work_directory() const override { return folder_ + "/work"; }
  std::string log_directory() const override { return folder_ + "/logs"; }
  std::string run_directory() const override { return folder_ + "/runs"; }
  std::string path() const override { return folder_ + "/state.db"; }

  Status replace(Database db) override;
  Status remove() override;  // remove.cc

 protected:
  Result<std::optional<LockInfo>> at_work(size_t open_intents) override;
  Result<std::optional<LockInfo>> supervisor_of(const std::string& step) override;
  Result<std::string> copy_of() override;
  Status check_held() override;

 private:
  enum class Attempt { Taken, Held };
  Result<Attempt> try_lock(const LockInfo& self, LockInfo& holder);

  std::string folder_;
  bool writable_;
  unsigned long long inode_;  // of the database when it was opened
  FileLock file_lock_;
};

}  // namespace radl

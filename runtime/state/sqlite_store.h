// The Store over SQLite. Internal to runtime/state.
#pragma once

#include <mutex>

#include "runtime/state/database.h"
#include "runtime/state/lock.h"
#include "runtime/state/store.h"

namespace radl {

class SqliteStore : public Store {
 public:
  SqliteStore(Database db, std::string folder, World& world, bool writable);
  ~SqliteStore() override;

  Status lock(const std::string& command, std::chrono::milliseconds timeout,
              const std::function<void(const LockInfo&)>& waiting,
              const std::function<bool()>& cancelled) override;
  void unlock() override;
  Result<std::optional<LockInfo>> lock_holder() override;
  Status force_unlock(const std::string& lock_id) override;

  Result<Snapshot> snapshot() override;
  Result<std::vector<Intent>> open_intents() override;
  Result<std::vector<HistoryEntry>> history(size_t newest) override;

  Result<Intent> begin(Intent intent) override;
  Result<Intent> begin_run(StepRecord record) override;
  Status finish(const Intent& intent, const ResourceRecord* made) override;
  Status finish_destroy(const Intent& intent, bool keep_steps) override;
  Status finish_run(const Intent& intent, const StepRecord& record) override;
  Status put_resource(const ResourceRecord& record) override;
  Status remove_resource(const std::string& address) override;
  Status forget_step(const std::string& id) override;
  Status move(const std::string& from, const std::string& to) override;
  Status close_run(const std::vector<OutputRecord>& outputs,
                   const std::map<std::string, std::string>& secrets, const std::string& source_digest,
                   const std::vector<std::string>& source_paths, const std::string& command,
                   const std::string& summary) override;

  std::string work_directory() const override { return folder_ + "/work"; }
  std::string log_directory() const override { return folder_ + "/logs"; }
  std::string path() const override { return folder_ + "/state.db"; }

 private:
  enum class Attempt { Taken, Held };
  Result<Attempt> try_lock(const LockInfo& self, LockInfo& holder);
  // One transaction: checks that the lock is still ours, does the work, and makes the serial grow.
  Status write(const std::function<Status()>& work);
  Status insert_intent(Intent& intent);
  Status rewrite_intent(const Intent& intent);  // its names
  Status delete_step(const std::string& id);
  Status rename_secret(const std::string& from, const std::string& to);
  Status close_intent(const Intent& intent, const char* outcome);
  Status remove_with_steps(const std::string& address, bool keep_steps);
  Status write_outputs(const std::vector<OutputRecord>& outputs);

  std::mutex mutex_;  // one connection: one statement at a time
  Database db_;
  std::string folder_;
  World& world_;
  bool writable_;
  unsigned long long inode_;  // of the database when it was opened
  FileLock file_lock_;
  std::string lock_id_;  // empty: not held
};

}  // namespace radl

// The Store in a bucket: read when it is opened, and written with each group of changes, under the condition
// that it is still the one that was read (stored_state.h). Internal to runtime/state.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/state/bucket.h"
#include "runtime/state/database_store.h"
#include "runtime/state/object_lock.h"
#include "runtime/state/place.h"
#include "runtime/state/stored_state.h"

namespace radl {

class BucketStore : public DatabaseStore {
 public:
  static Result<std::unique_ptr<Store>> open(const std::string& directory, const std::string& name,
                                             OpenMode mode, World& world, const Stop& stop);
  ~BucketStore() override;

  Status lock(const std::string& command, std::chrono::milliseconds timeout,
              const std::function<void(const LockInfo&)>& waiting, const Stop& stop) override;
  void unlock() override;
  Result<std::optional<LockInfo>> lock_holder() override;
  Status force_unlock(const std::string& lock_id) override;
  Result<std::unique_ptr<JobLease>> lease_job(const std::string& step, const std::string& command,
                                              bool take_over, const Stop& stop) override;

  std::string work_directory() const override { return folder_ + "/work"; }
  std::string log_directory() const override { return folder_ + "/logs"; }
  std::string run_directory() const override { return folder_ + "/runs"; }
  std::string path() const override { return bucket_->url(key_); }
  bool can_write() const override { return !unreachable_; }
  Status still_held() override { return lock_->still_held(); }
  Stop lost() override {
    return Stop::when([this] { return !still_held().ok(); });
  }

  Status adopt() override;
  Status replace(Database db) override;
  Status remove() override;

 protected:
  Result<std::optional<LockInfo>> at_work(size_t open_intents) override;
  Result<std::optional<LockInfo>> supervisor_of(const std::string& step) override;
  Result<std::string> copy_of() override { return copy_of_; }
  Status check_held() override;
  Status persist() override;

 private:
  BucketStore(std::unique_ptr<Bucket> bucket, Database db, World& world, std::string key, std::string folder,
              Stop stop);

  // Reads the state into db_; false if there is none.
  Result<bool> load();
  // Of what was read: sets copy_of_ to where the state is that it is a copy of, if that still exists, or
  // unasked_ if the place where it was cannot be asked.
  Status find_original();
  // The lock is ours: reads what was written last, and writes it as this owner's, so that nothing that an
  // earlier owner still sends fits any more.
  Status never_there();
  Status claim(bool& removed);
  Status take(const LockInfo& self, bool& removed);
  Status write_state();
  Status remove_below(const std::string& folder);
  // What could not be written, where the user finds it.
  Status keep_copy(Status why);
  std::string key_of(const std::string& name) const { return key_.substr(0, key_.rfind('/') + 1) + name; }
  std::string copy_path() const { return folder_ + "/unwritten-state.db"; }

  std::unique_ptr<Bucket> bucket_;
  StoredState stored_;
  std::string name_;
  const std::string key_, folder_;  // of state.db.gz, and of the files of this computer
  const Stop stop_;                 // of every wait for the bucket
  bool writable_ = false;
  std::string copy_of_;  // as load() has found it
  Status unasked_;       // not ok: it may be a copy, and the place where the state was cannot be asked
  Status fenced_;        // not ok: somebody else wrote it, and this run may not any more
  std::atomic<bool> unreachable_{false};  // what was committed last is only here
  std::unique_ptr<ObjectLock> lock_;
};

}  // namespace radl

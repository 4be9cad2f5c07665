// A Store in a bucket: read when opened, and written with each group of changes, on the condition that it is
// still the version that was read (stored_state.h). Internal to runtime/state.
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

  // Reads the state into db_; false if it does not exist.
  Result<bool> load();
  // After reading: sets copy_of_ to the location of the original if this is a copy and the original still
  // exists, or unasked_ if that location cannot be accessed.
  Status find_original();
  // Called with the lock: reads the latest version and rewrites it as this owner's, so that delayed writes of
  // earlier owners fail their condition.
  Status never_there();
  Status claim(bool& removed);
  Status take(const LockInfo& self, bool& removed);
  Status write_state();
  Status remove_below(const std::string& folder);
  // Saves data that could not be written to a place where the user finds it.
  Status keep_copy(Status why);
  std::string key_of(const std::string& name) const { return key_.substr(0, key_.rfind('/') + 1) + name; }
  std::string copy_path() const { return folder_ + "/unwritten-state.db"; }

  std::unique_ptr<Bucket> bucket_;
  StoredState stored_;
  std::string name_;
  const std::string key_, folder_;  // of state.db.gz; of the local files
  const Stop stop_;                 // for every wait for the bucket
  bool writable_ = false;
  std::string copy_of_;  // set by load()
  Status unasked_;       // not ok: it may be a copy, and the original's location cannot be accessed
  Status fenced_;        // not ok: another writer has changed it, and this run may no longer write
  std::atomic<bool> unreachable_{false};  // the last commit exists only locally
  std::unique_ptr<ObjectLock> lock_;
};

}  // namespace radl

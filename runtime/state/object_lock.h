// The lock of a state in a bucket: an object that names its owner and is written only conditionally. Internal
// to runtime/state; docs/decisions/0013-state-in-a-bucket.md explains the design.
//
// The owner renews it on a background thread. It is free if its owner released it, if the owner's process is
// known to be dead (same computer), or if it was not renewed within its lease plus a margin by the server's
// clock. Taking over writes the next generation on the condition that the object is unchanged, so only one of
// two contenders succeeds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/state/bucket.h"
#include "runtime/state/store.h"

namespace radl {

// The ID with which ObjectLock::force() removes an unreadable lock.
inline constexpr const char* kDamagedLock = "damaged";

struct ObjectLockRecord {
  LockInfo info;
  std::string process_namespace;  // PID namespace of its process
  long long generation = 0;       // incremented for each owner
  long long beat = 0;             // incremented at each renewal, so all writes differ
  double lease = 0;               // seconds
  bool free = false;
  std::string state;  // NAME-LINEAGE; "" if there is no state (yet, or any more)
};

class ObjectLock {
 public:
  // `stop`: for every wait for the bucket.
  ObjectLock(Bucket& bucket, std::string key, std::chrono::milliseconds lease, Stop stop);
  ~ObjectLock();  // releases it
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

  // Its content in the bucket; nullopt if it does not exist.
  Result<std::optional<ObjectLockRecord>> read();
  // nullopt if it is free, its owner is known to be dead, or its lease has expired.
  Result<std::optional<LockInfo>> living_owner();
  // Takes it, or returns the live owner's record. Unsupported: the server ignores conditions, so writers
  // could overwrite each other.
  Result<std::optional<ObjectLockRecord>> try_take(const LockInfo& self);
  // Call after taking it: records that the bucket has this state, last written by `generation`. Starts the
  // renewals.
  Status hold(const std::string& state, long long generation);
  // Ok while it is held. If a renewal is overdue (the computer slept, the network was down), renews it now or
  // returns the error. Conflict: another owner has it.
  Status check();
  // check() for frequent calls: does not wait while the last renewal is valid. Also Ok if it was never taken
  // or has been released.
  Status still_held();
  long long generation() const { return record_.generation; }
  const std::string& state() const { return record_.state; }  // as set by hold() or mark(), or as found
  std::chrono::milliseconds lease() const { return lease_; }
  // `state`: the bucket's content from now on.
  Status mark(const std::string& state);
  void give_back(const std::string& state);
  // Removes the lock; what it locked no longer exists.
  void remove();
  // Releases it regardless of its holder. Conflict unless its ID is `id`.
  Status force(const std::string& id);

 private:
  Status probe_conditions();
  Status write(const ObjectLockRecord& record, std::chrono::milliseconds patience);
  Status renew(std::chrono::milliseconds patience);
  bool is_own_late_write();
  void renew_until_stopped();
  void stop_renewing();

  Bucket& bucket_;
  const std::string key_;
  const std::chrono::milliseconds lease_;
  const Stop stopped_;
  std::mutex mutex_;  // guards all members below
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<bool> held_{false}, taken_away_{false};  // written with mutex_ held
  ObjectLockRecord record_;
  std::string etag_;
  std::atomic<double> renewed_at_{0};  // written with mutex_ held: start of the last successful renewal, in
                                       // seconds since boot including sleep
  Status lost_;                        // not ok: another owner has it
  std::thread renewer_;
};

// For messages, and for file locks.
std::string process_namespace();

}  // namespace radl

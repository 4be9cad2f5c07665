// The lock of a state in a bucket: an object that names its owner and is written on conditions only. Internal
// to runtime/state; docs/decisions/0013-state-in-a-bucket.md gives the reasons.
//
// The owner renews it from a thread. It is free when its owner gave it back, when the owner's process is
// known to be dead (same computer), or when it was not renewed for its lease and a margin, judged by the
// server's clock alone. Whoever takes it over writes it with the next generation, under the condition that it
// is still as it was seen, so that of two only one succeeds.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/state/bucket.h"
#include "runtime/state/store.h"

namespace radl {

// The id under which ObjectLock::force() removes a lock that cannot be read.
inline constexpr const char* kDamagedLock = "damaged";

struct ObjectLockRecord {
  LockInfo info;
  std::string process_namespace;  // of its process number
  long long generation = 0;       // grows with each owner
  long long beat = 0;             // grows with each renewal: no two are alike
  double lease = 0;               // seconds
  bool free = false;
  std::string state;  // NAME-LINEAGE where there is a state; "" where there is none (yet, or any more)
};

class ObjectLock {
 public:
  // `stop`: of every wait for the bucket.
  ObjectLock(Bucket& bucket, std::string key, std::chrono::milliseconds lease, Stop stop);
  ~ObjectLock();  // gives it back
  ObjectLock(const ObjectLock&) = delete;
  ObjectLock& operator=(const ObjectLock&) = delete;

  // As it is in the bucket; nothing where there is none.
  Result<std::optional<ObjectLockRecord>> read();
  // Nothing where it is free, its owner is known to be dead, or did not renew it in time.
  Result<std::optional<LockInfo>> living_owner();
  // Takes it, or gives the living owner's. Unsupported: the server takes no notice of conditions, and two
  // writers could overwrite each other.
  Result<std::optional<ObjectLockRecord>> try_take(const LockInfo& self);
  // The owner's, once it is taken: the bucket has this state, and it was written by `generation` last. From
  // now on it is renewed.
  Status hold(const std::string& state, long long generation);
  // Ok while it is held. Where it was not renewed in time (the computer slept, the network was gone) it is
  // renewed now, or the reason is given why it cannot be. Conflict: somebody else has it.
  Status check();
  // check() for whoever asks many times a second: without a wait while the last renewal is good. Ok as well
  // where it was never taken or is given back.
  Status still_held();
  long long generation() const { return record_.generation; }
  const std::string& state() const { return record_.state; }  // as hold() or mark() said, or it was found
  std::chrono::milliseconds lease() const { return lease_; }
  // `state`: what the bucket has from now on.
  Status mark(const std::string& state);
  void give_back(const std::string& state);
  // Removes it; what it locked is no more.
  void remove();
  // Makes it free whoever has it. Conflict unless its id is `id`.
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
  std::mutex mutex_;  // of all below
  std::condition_variable wake_;
  bool stop_ = false;
  std::atomic<bool> held_{false}, taken_away_{false};  // written under mutex_
  ObjectLockRecord record_;
  std::string etag_;
  std::atomic<double> renewed_at_{0};  // written under mutex_: when the last renewal that succeeded began:
                                       // seconds since boot, sleep included
  Status lost_;                        // not ok: somebody else has it
  std::thread renewer_;
};

// For messages, and the lock of files.
std::string process_namespace();

}  // namespace radl

#include "runtime/state/bucket_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/files.h"
#include "runtime/state/apply_change.h"
#include "runtime/state/home.h"
#include "runtime/state/job_lease.h"
#include "runtime/state/lock.h"
#include "runtime/state/rows.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr int kLeaseSeconds = 60, kShortestLease = 3, kLongestLease = 3600;
constexpr milliseconds kRead{30000}, kAskAgain{500};
constexpr const char* kLock = "lock";

Result<milliseconds> lease_of(const Environment& environment) {
  const std::string text = environment("RADL_STATE_LEASE");
  if (text.empty()) return milliseconds(1000LL * kLeaseSeconds);
  char* end = nullptr;
  const long seconds = std::strtol(text.c_str(), &end, 10);
  if (*end != '\0' || seconds < kShortestLease || seconds > kLongestLease) {
    return invalid("RADL_STATE_LEASE=" + text + ": expected seconds, " + std::to_string(kShortestLease) +
                   " to " + std::to_string(kLongestLease));
  }
  return milliseconds(1000LL * seconds);
}

bool may_answer_later(Code code) {
  return code == Code::Lost || code == Code::Retry || code == Code::Timeout;
}

Status fenced_off(const std::string& url) {
  return Status(Code::Conflict, url +
                                    ": another run has written this state since; nothing of this run's was "
                                    "written over it")
      .with_hint("the other run took over what this one had begun; run the command again");
}

}  // namespace

BucketStore::BucketStore(std::unique_ptr<Bucket> bucket, Database db, World& world, std::string key,
                         std::string folder, Stop stop)
    : DatabaseStore(std::move(db), world),
      bucket_(std::move(bucket)),
      stored_(*bucket_, key),
      key_(std::move(key)),
      folder_(std::move(folder)),
      stop_(std::move(stop)) {}

BucketStore::~BucketStore() { unlock(); }

Result<std::unique_ptr<Store>> BucketStore::open(const std::string& directory, const std::string& name,
                                                 OpenMode mode, World& world, const Stop& stop) {
  if (Status fine = check_state_name(name); !fine.ok()) return fine;
  Result<BucketPlace> place = bucket_place(directory);
  if (!place.ok()) return place.status();
  Result<std::string> folder = local_folder(*place, name, world.environment);
  if (!folder.ok()) return folder.status();
  Result<milliseconds> lease = lease_of(world.environment);
  if (!lease.ok()) return lease.status();
  Result<std::unique_ptr<Bucket>> bucket = Bucket::open(place->address, world.environment);
  if (!bucket.ok()) return bucket.status();
  Result<Database> empty = Database::in_memory();
  if (!empty.ok()) return empty.status();
  std::unique_ptr<BucketStore> store(new BucketStore(std::move(*bucket), std::move(*empty), world,
                                                     place->key(name, kDocumentName), std::move(*folder),
                                                     stop));
  store->name_ = name;
  store->lock_ = std::make_unique<ObjectLock>(*store->bucket_, place->key(name, kLock), *lease, stop);
  Result<bool> there = store->load();
  if (!there.ok()) return there.status();
  if (!*there && mode != OpenMode::Create) {
    if (Status never = store->never_there(); !never.ok()) return never;
    return Status(Code::NotFound, "no state of '" + name + "' in " + directory)
        .with_hint("run `radlc apply` to create it, or pass another place with --state");
  }
  store->writable_ = mode != OpenMode::Read;
  for (const std::string& made : {store->work_directory(), store->log_directory()}) {
    if (Status status = make_directories(made, 0700); !status.ok() && store->writable_) return status;
  }
  return std::unique_ptr<Store>(std::move(store));
}

Result<bool> BucketStore::load() {
  Result<bool> there = stored_.read(db_, stop_);
  if (!there.ok() || !*there) return there;
  if (Status found = find_original(); !found.ok()) return found;
  return true;
}

Status BucketStore::find_original() {
  copy_of_.clear();
  unasked_ = {};
  Result<std::string> url = recorded_url(db_);
  if (!url.ok() || url->empty() || *url == path()) return url.status();
  const auto unasked = [&](const Status& why) {
    unasked_ = Status(Code::Exists, path() + ": this state was in " + *url +
                                        " before, which cannot be asked now (" + why.message() + ")")
                   .with_hint("if it is gone: `radlc state adopt`");
    return stop_.check();
  };
  // "s3://bucket/prefix/NAME/state.db.gz": the request is for an object of the prefix above it.
  const size_t object = url->rfind('/');
  Result<BucketPlace> place = bucket_place(url->substr(0, object));
  if (!place.ok()) return unasked(place.status());
  Result<std::unique_ptr<Bucket>> bucket = Bucket::open(place->address, world_.environment);
  if (!bucket.ok()) return unasked(bucket.status());
  Result<Database> other = Database::in_memory();
  if (!other.ok()) return other.status();
  Result<bool> there = StoredState(**bucket, place->prefix + url->substr(object)).read(*other, stop_);
  if (!there.ok()) return unasked(there.status());
  if (!*there) return {};  // it was moved here
  const Result<std::string> ours = read_meta(db_, "lineage"), theirs = read_meta(*other, "lineage");
  if (!ours.ok() || !theirs.ok() || *ours == *theirs) copy_of_ = *url;
  return {};
}

Status BucketStore::lock(const std::string& command, milliseconds timeout,
                         const std::function<void(const LockInfo&)>& waiting, const Stop& stop) {
  if (!writable_) return internal_error("a state that was opened for reading cannot be locked");
  const LockInfo self = describe_self(command, principal_, world_);
  const auto end = world_.clock.now() + timeout;
  bool told = false;
  while (true) {
    Result<std::optional<ObjectLockRecord>> holder = lock_->try_take(self);
    if (!holder.ok() || !*holder) {
      bool removed = false;
      Status claimed = holder.ok() ? take(self, removed) : holder.status();
      // A run that waits for the lock also waits for a bucket that does not respond.
      if (claimed.ok() || removed || !may_answer_later(claimed.code()) || world_.clock.now() >= end)
        return claimed;
      if (!sleep_unless(world_.clock, kAskAgain, stop)) return claimed;
      continue;
    }
    const LockInfo& info = (*holder)->info;
    if (world_.clock.now() >= end) {
      Status held(Code::Conflict, "the state is locked: " + info.text());
      return std::move(held).with_hint(
          "wait for it with --lock-timeout SECONDS, or, when it is gone for good, "
          "`radlc state unlock " +
          info.id + "`");
    }
    if (!told && waiting && !info.id.empty()) waiting(info);
    told |= !info.id.empty();
    if (!sleep_unless(world_.clock, kAskAgain, stop))
      return {stop.check().code(), "stopped while waiting for the state's lock: " + info.text()};
  }
}

// The lock is held: makes the state this run's, or gives the lock back.
Status BucketStore::take(const LockInfo& self, bool& removed) {
  lock_id_ = self.id;
  principal_ = self.principal;
  Status claimed = claim(removed);
  // What an earlier owner had sent may still arrive; it cannot after the first write of this one.
  for (int again = 0; again < 5 && claimed.code() == Code::Conflict; ++again) claimed = claim(removed);
  if (!claimed.ok()) unlock();
  return claimed;
}

// Ok where the lock, as far as there is one, knows of no state: then what is missing was never there.
Status BucketStore::never_there() {
  Result<std::optional<ObjectLockRecord>> lock = lock_->read();
  if (!lock.ok()) return lock.status();
  if (!*lock || (*lock)->state.empty()) return {};
  return Status(Code::Corrupt, path() + ": a state was here (tagged in the clouds as " + (*lock)->state +
                                   "), and it is missing; radlc never starts over on its own, because it "
                                   "would create the same resources again")
      .with_hint(
          "restore an earlier version of the object; or, if none of its resources exist any more, remove the "
          "object " +
          bucket_->url(key_.substr(0, key_.rfind('/')) + "/lock"));
}

Status BucketStore::claim(bool& removed) {
  const bool was_there = stored_.is_stored();
  Result<bool> there = load();
  if (!there.ok()) return there.status();
  if (!*there) {
    if (Status never = never_there(); !never.ok()) return never;
    removed = was_there;
    if (removed) return {Code::Lost, "the state was removed while this run waited for its lock"};
    if (Status made = make_empty_state(db_, name_, world_); !made.ok()) return made;
  }
  if (!copy_of_.empty()) return is_a_copy(path(), copy_of_);
  if (!unasked_.ok()) return unasked_;
  Result<std::string> before = read_meta(db_, "lock_generation");
  if (!before.ok()) return before.status();
  const long long generation = std::max(lock_->generation(), std::atoll(before->c_str()) + 1);
  if (Status put = write_meta(db_, "lock_generation", std::to_string(generation)); !put.ok()) return put;
  if (Status put = write_meta(db_, "lock_id", lock_id_); !put.ok()) return put;
  if (Status put = record_url(db_, path()); !put.ok()) return put;
  if (Status written = write_state(); !written.ok()) return written;
  Result<std::string> lineage = read_meta(db_, "lineage");
  if (!lineage.ok()) return lineage.status();
  return lock_->hold(infrastructure_tag(name_, *lineage), generation);
}

Status BucketStore::write_state() {
  // While it is unreachable, further writes only check whether it has recovered.
  const milliseconds patience = unreachable_ ? lock_->lease() / 12 : lock_->lease() / 2;
  Status written = stored_.write(db_, mutex_, patience, stop_);
  // A new lock owner has written its own name first.
  if (written.code() == Code::Conflict && !lock_id_.empty() && stored_.is_late_write_of(lock_id_, stop_))
    written = stored_.write(db_, mutex_, patience, stop_);
  return written.code() == Code::Conflict ? fenced_off(path()) : written;
}

Status BucketStore::check_held() {
  if (!fenced_.ok()) return fenced_;
  return lock_->check();
}

Status BucketStore::persist() {
  Status written = write_state();
  if (written.code() == Code::Conflict) {
    unreachable_ = true;
    return fenced_ = written;
  }
  if (!written.ok()) {
    unreachable_ = true;
    return keep_copy(std::move(written));
  }
  if (unreachable_) {
    std::error_code ignored;
    std::filesystem::remove(copy_path(), ignored);
  }
  unreachable_ = false;
  return {};
}

Status BucketStore::keep_copy(Status why) {
  Result<std::string> bytes = whole_bytes();
  Status kept = bytes.ok() ? write_file_atomic(copy_path(), *bytes, 0600) : bytes.status();
  std::string text = path() + ": the state cannot be written: " + why.message();
  if (!kept.ok()) return Status(why.code(), text + "; nor could a copy be kept: " + kept.message());
  const std::string directory = key_.substr(0, key_.rfind('/'));
  const size_t slash = directory.rfind('/');
  const std::string prefix = slash == std::string::npos ? "" : directory.substr(0, slash);
  return Status(why.code(), text + "; it was kept in " + copy_path())
      .with_hint(
          "the journal there has the requests sent so far, and the next run recovers them; "
          "to write this copy: radlc state push " +
          copy_path() + " --state " + bucket_->url(prefix) + " --name " + name_);
}

void BucketStore::unlock() {
  if (lock_id_.empty()) return;
  lock_id_.clear();
  // A lost document leaves its name in the lock, so no run starts over.
  lock_->give_back(lock_->state());
}

Result<std::optional<LockInfo>> BucketStore::lock_holder() { return lock_->living_owner(); }

// A request of its own, which is spared where the answer changes nothing.
Result<std::optional<LockInfo>> BucketStore::at_work(size_t open_intents) {
  return open_intents == 0 ? std::optional<LockInfo>() : lock_->living_owner();
}

Status BucketStore::force_unlock(const std::string& lock_id) { return lock_->force(lock_id); }

namespace {

class BucketLease : public JobLease {
 public:
  explicit BucketLease(std::unique_ptr<ObjectLock> lock) : lock_(std::move(lock)) {}
  ~BucketLease() override { lock_->remove(); }
  Status still_held() override { return lock_->still_held(); }

 private:
  std::unique_ptr<ObjectLock> lock_;
};

}  // namespace

// The previous holder notices at its next renewal, within a third of its lease, and releases the lock.
// Until then it affects only its own job.
Result<std::unique_ptr<JobLease>> BucketStore::lease_job(const std::string& step, const std::string& command,
                                                         bool take_over, const Stop& stop) {
  const LockInfo self = describe_self(command, principal_, world_);
  auto lock = std::make_unique<ObjectLock>(*bucket_, key_of(lease_name(step)), lock_->lease(), stop_);
  Result<std::optional<ObjectLockRecord>> holder = lock->try_take(self);
  if (!holder.ok()) return holder.status();
  if (*holder) {
    if (!take_over || (*holder)->info.id.empty()) return supervised_by_another(step, (*holder)->info);
    if (Status freed = lock->force((*holder)->info.id); !freed.ok()) return freed;
    // It learns of it when it renews, by its own time.
    const std::chrono::duration<double> half((*holder)->lease / 2);
    if (!sleep_unless(world_.clock, std::chrono::duration_cast<milliseconds>(half), stop))
      return stop.check();
    holder = lock->try_take(self);
    if (!holder.ok()) return holder.status();
    if (*holder) return supervised_by_another(step, (*holder)->info);
  }
  if (Status held = lock->hold("", 0); !held.ok()) return held;
  return std::unique_ptr<JobLease>(std::make_unique<BucketLease>(std::move(lock)));
}

Result<std::optional<LockInfo>> BucketStore::supervisor_of(const std::string& step) {
  return ObjectLock(*bucket_, key_of(lease_name(step)), lock_->lease(), stop_).living_owner();
}

// Under the condition that the document is still the one that was read: no lock is needed.
Status BucketStore::adopt() {
  if (Status put = record_url(db_, path()); !put.ok()) return put;
  copy_of_.clear();
  unasked_ = {};
  return write_state();
}

Status BucketStore::replace(Database db) {
  if (Status held = check_held(); !held.ok()) return held;
  Result<std::string> generation = read_meta(db_, "lock_generation");
  if (!generation.ok()) return generation.status();
  stored_.start_over();
  db_ = std::move(db);
  if (Status put = write_meta(db_, "lock_generation", *generation); !put.ok()) return put;
  if (Status put = write_meta(db_, "lock_id", lock_id_); !put.ok()) return put;
  if (Status put = record_url(db_, path()); !put.ok()) return put;
  if (Status written = write_state(); !written.ok()) return written;
  std::error_code ignored;
  std::filesystem::remove(copy_path(), ignored);
  Result<std::string> lineage = read_meta(db_, "lineage");
  return lineage.ok() ? lock_->mark(infrastructure_tag(name_, *lineage)) : lineage.status();
}

// Parts of the state, leases that killed supervisors have left, and events of runs.
Status BucketStore::remove_below(const std::string& folder) {
  Result<std::vector<std::string>> keys = bucket_->keys(key_of(folder), for_a_write(stop_, kRead));
  if (!keys.ok()) return keys.status();
  for (const std::string& key : *keys)
    if (Status gone = bucket_->remove(key, for_a_write(stop_, kRead)); !gone.ok()) return gone;
  return {};
}

// A copy is never locked; its lock file is only a copy.
Status BucketStore::remove() {
  if (!copy_of_.empty()) {
    const std::string lock = key_.substr(0, key_.rfind('/') + 1) + kLock;
    if (Status gone = bucket_->remove(lock, for_a_write(stop_, kRead)); !gone.ok()) return gone;
  } else {
    // From here on, nothing indicates that a state must exist.
    if (Status held = lock_->check(); !held.ok()) return held;
    if (Status marked = lock_->mark(""); !marked.ok()) return marked;
  }
  if (Status gone = bucket_->remove(key_, for_a_write(stop_, kRead)); !gone.ok()) return gone;
  for (const char* folder : {"parts/", "leases/", "runs/"})
    if (Status gone = remove_below(folder); !gone.ok()) return gone;
  stored_.forget();
  lock_id_.clear();
  lock_->remove();
  if (Status gone = world_.files.remove_tree(folder_); !gone.ok()) return gone;
  // The folders above it, as far as nothing else is in them.
  std::error_code filled;
  for (std::filesystem::path above = std::filesystem::path(folder_).parent_path();
       !filled && above.filename() != "radlc"; above = above.parent_path())
    std::filesystem::remove(above, filled);
  return {};
}

}  // namespace radl

#include "runtime/state/object_lock.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "common/process/process.h"
#include "runtime/state/records.h"

namespace radl {

namespace {

using std::chrono::milliseconds;

constexpr int kLockVersion = 1;
// Beside the lease: a renewal that is under way, and times of whole seconds.
constexpr double kMargin = 3;

// Goes on while the computer sleeps.
double seconds_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double in_seconds(milliseconds time) { return static_cast<double>(time.count()) / 1000; }

std::string text_of(const ObjectLockRecord& record) {
  Json json = row_json(record.info);
  json["radl_state_lock"] = kLockVersion;
  json["process_namespace"] = record.process_namespace;
  json["generation"] = record.generation;
  json["beat"] = record.beat;
  json["lease_seconds"] = record.lease;
  json["free"] = record.free;
  json["state"] = record.state;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ObjectLockRecord> record_of(const std::string& text, const std::string& url) {
  const Json json = Json::parse(text, nullptr, false);
  ObjectLockRecord record;
  try {
    if (json.at("radl_state_lock").get<int>() > kLockVersion)
      return invalid(url + ": written by a newer radlc").with_hint("use that radlc or a newer one");
    Json whole = json;
    if (!whole.contains("principal")) whole["principal"] = "";  // of an older radlc
    table::JsonReader reader{whole};
    Table<LockInfo>::fields(record.info, reader);
    record.process_namespace = json.at("process_namespace").get<std::string>();
    record.generation = json.at("generation").get<long long>();
    record.beat = json.at("beat").get<long long>();
    record.lease = json.at("lease_seconds").get<double>();
    record.free = json.at("free").get<bool>();
    record.state = json.at("state").get<std::string>();
  } catch (const Json::exception&) {
    return Status(Code::Corrupt, url + ": the state's lock is damaged, or another program's object (" +
                                     std::to_string(text.size()) + " bytes)")
        .with_hint("make sure that no other run uses this state, then remove its lock: `radlc state unlock " +
                   std::string(kDamagedLock) + "`; or name another place with --state");
  }
  return record;
}

// Only if certain: the process was on this computer and has ended. Two computers may share a name, so a
// process from before this computer's last boot is left to its lease.
bool owner_is_gone(const ObjectLockRecord& record) {
  const LockInfo& info = record.info;
  if (info.host != host_name() || info.boot_id.empty() || info.boot_id != boot_id()) return false;
  if (record.process_namespace != process_namespace()) return false;
  return info.pid_start == 0 || process_start_time(info.pid) != info.pid_start;
}

// `age`: seconds since it was written, by the server's clock.
bool is_free(const ObjectLockRecord& record, double age) {
  return record.free || age > record.lease + kMargin || owner_is_gone(record);
}

// Retries while the store is overloaded or does not respond: its verdict on the condition is needed.
Result<std::string> put_until_answered(Bucket& bucket, const std::string& key, const std::string& text,
                                       const WriteIf& condition, milliseconds patience, const Stop& stop) {
  const auto end = std::chrono::steady_clock::now() + patience;
  for (milliseconds wait{50};; wait = std::min(wait * 2, milliseconds(2000))) {
    Result<std::string> put = bucket.put(key, text, condition, stop.within(patience));
    const Code code = put.status().code();
    const bool passing = code == Code::Lost || code == Code::Retry || code == Code::Timeout;
    if (put.ok() || !passing || std::chrono::steady_clock::now() + wait >= end || !stop.sleep(wait))
      return put;
  }
}

Status taken_over(const std::string& url, const std::string& by) {
  return Status(Code::Conflict,
                "the state's lock was taken over from this run, which had not renewed it in "
                "time (" +
                    url + (by.empty() ? "" : ": now " + by) + ")")
      .with_hint("nothing was written since; run the command again");
}

}  // namespace

std::string process_namespace() {
  char name[128];
  ssize_t size = ::readlink("/proc/self/ns/pid", name, sizeof name);
  return size > 0 ? std::string(name, static_cast<size_t>(size)) : "";
}

ObjectLock::ObjectLock(Bucket& bucket, std::string key, milliseconds lease, Stop stop)
    : bucket_(bucket), key_(std::move(key)), lease_(lease), stopped_(std::move(stop)) {}

ObjectLock::~ObjectLock() { give_back(record_.state); }

Result<std::optional<ObjectLockRecord>> ObjectLock::read() {
  Result<std::optional<BucketObject>> object = bucket_.get(key_, stopped_.within(lease_ / 2));
  if (!object.ok()) return object.status();
  if (!*object) return std::optional<ObjectLockRecord>();
  Result<ObjectLockRecord> record = record_of((*object)->body, bucket_.url(key_));
  if (!record.ok()) return record.status();
  return std::optional<ObjectLockRecord>(std::move(*record));
}

Result<std::optional<LockInfo>> ObjectLock::living_owner() {
  Result<std::optional<BucketObject>> object = bucket_.get(key_, stopped_.within(lease_ / 2));
  if (!object.ok()) return object.status();
  if (!*object) return std::optional<LockInfo>();
  Result<ObjectLockRecord> record = record_of((*object)->body, bucket_.url(key_));
  if (!record.ok()) return record.status();
  if (is_free(*record, (*object)->age)) return std::optional<LockInfo>();
  return std::optional<LockInfo>(record->info);
}

Result<std::optional<ObjectLockRecord>> ObjectLock::try_take(const LockInfo& self) {
  Result<std::optional<BucketObject>> object = bucket_.get(key_, stopped_.within(lease_ / 2));
  if (!object.ok()) return object.status();
  ObjectLockRecord own{self, process_namespace(), 1, 0, in_seconds(lease_), false, ""};
  WriteIf condition;
  condition.absent = !object->has_value();
  if (*object) {
    Result<ObjectLockRecord> there = record_of((*object)->body, bucket_.url(key_));
    if (!there.ok()) return there.status();
    if (!is_free(*there, (*object)->age)) return std::optional(std::move(*there));
    own.generation = there->generation + 1;
    own.state = there->state;
    condition.etag = (*object)->etag;
  }
  std::lock_guard guard(mutex_);
  renewed_at_ = seconds_since_boot();
  Result<std::string> etag = put_certainly(bucket_, key_, text_of(own), condition, lease_ / 2, stopped_);
  if (!etag.ok() && etag.status().code() != Code::Conflict) return etag.status();
  if (!etag.ok()) {  // another run was faster; the next attempt shows which
    ObjectLockRecord unknown;
    unknown.info.command = "another run";
    return std::optional(std::move(unknown));
  }
  etag_ = std::move(*etag);
  record_ = std::move(own);
  lost_ = {};
  taken_away_ = false;
  held_ = true;
  if (Status sound = probe_conditions(); !sound.ok()) return sound;
  return std::optional<ObjectLockRecord>();
}

// Tests that a second conditional put fails for both conditions. Writes the existing content, so that it does
// no harm if a server ignores conditions.
Status ObjectLock::probe_conditions() {
  const std::string text = text_of(record_);
  WriteIf absent, other;
  absent.absent = true;
  other.etag = std::string(32, '0');
  for (const WriteIf& condition : {absent, other}) {
    const Result<std::string> again =
        put_until_answered(bucket_, key_, text, condition, lease_ / 2, stopped_);
    if (!again.ok() && again.status().code() == Code::Conflict) continue;
    held_ = false;
    if (!again.ok()) return again.status();
    (void)bucket_.remove(key_, for_a_write(stopped_, lease_ / 2));
    return Status(Code::Unsupported, bucket_.url(key_) + ": the server takes no notice of " +
                                         (condition.absent ? "If-None-Match" : "If-Match") +
                                         " when it stores an object, so that two runs could overwrite each "
                                         "other's state")
        .with_hint("use a server with conditional writes: Amazon S3, MinIO, Ceph, R2");
  }
  return {};
}

Status ObjectLock::hold(const std::string& state, long long generation) {
  std::lock_guard guard(mutex_);
  record_.generation = std::max(record_.generation, generation);
  record_.state = state;
  stop_ = false;
  if (!renewer_.joinable()) renewer_ = std::thread([this] { renew_until_stopped(); });
  return {};
}

// mutex_ is held.
Status ObjectLock::write(const ObjectLockRecord& record, milliseconds patience) {
  WriteIf condition;
  condition.etag = etag_;
  Result<std::string> etag = put_certainly(bucket_, key_, text_of(record), condition, patience, stopped_);
  if (!etag.ok()) return etag.status();
  etag_ = std::move(*etag);
  return {};
}

// True if the existing object is an earlier write of this owner, which it abandoned and the server executed
// after all. The next write then builds on it.
bool ObjectLock::is_own_late_write() {
  Result<std::optional<BucketObject>> object = bucket_.get(key_, stopped_.within(lease_ / 2));
  if (!object.ok() || !*object) return false;
  const Result<ObjectLockRecord> there = record_of((*object)->body, bucket_.url(key_));
  const bool own = there.ok() && !there->free && there->info.id == record_.info.id &&
                   there->info.host == record_.info.host && there->generation <= record_.generation &&
                   there->beat <= record_.beat;
  if (own) etag_ = (*object)->etag;
  return own;
}

Status ObjectLock::renew(milliseconds patience) {
  const double began = seconds_since_boot();
  ++record_.beat;
  Status written = write(record_, patience);
  if (written.code() == Code::Conflict && is_own_late_write()) written = write(record_, patience);
  if (written.ok()) renewed_at_ = began;
  if (written.code() != Code::Conflict) return written;
  Result<std::optional<ObjectLockRecord>> now = read();
  lost_ = taken_over(bucket_.url(key_), now.ok() && *now ? (*now)->info.text() : "");
  taken_away_ = true;
  held_ = false;
  return lost_;
}

void ObjectLock::renew_until_stopped() {
  std::unique_lock guard(mutex_);
  while (!stop_ && held_) {
    if (wake_.wait_for(guard, lease_ / 3, [this] { return stop_; })) return;
    (void)renew(lease_ / 3);  // the next turn tries again; check() says what stays wrong
  }
}

Status ObjectLock::check() {
  std::lock_guard guard(mutex_);
  if (!lost_.ok()) return lost_;
  if (!held_) return internal_error("the state was written without its lock");
  if (seconds_since_boot() - renewed_at_ < in_seconds(lease_)) return {};
  return renew(lease_ / 3);
}

Status ObjectLock::still_held() {
  const bool held = held_;  // before the other: what is taken away is not held afterwards
  if (taken_away_) {
    std::lock_guard guard(mutex_);
    return lost_;
  }
  if (!held || seconds_since_boot() - renewed_at_ < in_seconds(lease_)) return {};
  return check();
}

void ObjectLock::stop_renewing() {
  {
    std::lock_guard guard(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (renewer_.joinable()) renewer_.join();
}

Status ObjectLock::mark(const std::string& state) {
  std::lock_guard guard(mutex_);
  if (!lost_.ok()) return lost_;
  record_.state = state;
  return renew(lease_ / 3);
}

void ObjectLock::give_back(const std::string& state) {
  stop_renewing();
  std::lock_guard guard(mutex_);
  if (!held_) return;
  held_ = false;
  ObjectLockRecord free = record_;
  free.free = true;
  free.state = state;
  ++free.beat;
  // If that fails, it is free when its lease is over.
  const Status written = write(free, lease_ / 3);
  if (written.code() == Code::Conflict && is_own_late_write()) (void)write(free, lease_ / 3);
}

void ObjectLock::remove() {
  stop_renewing();
  std::lock_guard guard(mutex_);
  if (!held_) return;
  held_ = false;
  (void)bucket_.remove(
      key_, for_a_write(stopped_, lease_ / 2));  // what stays behind is free when its lease is over
}

Status ObjectLock::force(const std::string& id) {
  Result<std::optional<BucketObject>> object = bucket_.get(key_, stopped_.within(lease_ / 2));
  if (!object.ok()) return object.status();
  if (!*object) return not_found("the state is not locked");
  Result<ObjectLockRecord> record = record_of((*object)->body, bucket_.url(key_));
  // What the lock knew of the state is lost with it; the state itself is another object.
  if (record.status().code() == Code::Corrupt && id == kDamagedLock)
    return bucket_.remove(key_, for_a_write(stopped_, lease_ / 2));
  if (!record.ok()) return record.status();
  if (record->free) return not_found("the state is not locked");
  if (record->info.id != id)
    return {Code::Conflict, "the state is held by another lock: " + record->info.text()};
  record->free = true;
  ++record->beat;
  WriteIf condition;
  condition.etag = (*object)->etag;
  return put_certainly(bucket_, key_, text_of(*record), condition, lease_ / 2, stopped_).status();
}

}  // namespace radl

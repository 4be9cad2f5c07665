#include "runtime/state/database_store.h"

#include "runtime/state/apply_change.h"
#include "runtime/state/rows.h"
#include "runtime/state/schema.h"

namespace radl {

// What looks interrupted may be of a run that ended right after it was read, its process with it: then a
// second look finds nothing open.
Result<Snapshot> DatabaseStore::snapshot() {
  Result<Snapshot> found = read_with_owner();
  return found.ok() && found->interrupted() ? read_with_owner() : std::move(found);
}

Result<Snapshot> DatabaseStore::read_with_owner() {
  std::lock_guard guard(mutex_);
  Transaction transaction(db_);
  if (Status begun = transaction.begin(false); !begun.ok()) return begun;
  Result<Snapshot> found = read_snapshot(db_);
  if (!found.ok()) return found;
  if (found->open_intents > 0) {
    std::vector<Intent> open;
    if (Status read = read_intents(open, found->supervised); !read.ok()) return read;
    found->open_intents = open.size();
  }
  if (!lock_id_.empty()) return found;
  Result<std::string> original = copy_of();
  if (!original.ok()) return original.status();
  found->copy_of = std::move(*original);
  Result<std::optional<LockInfo>> owner = at_work(found->open_intents);
  if (!owner.ok()) return owner.status();
  if (*owner) found->at_work = (*owner)->text();
  return found;
}

Result<std::vector<Intent>> DatabaseStore::open_intents() {
  std::lock_guard guard(mutex_);
  std::vector<Intent> open;
  std::map<std::string, std::string> supervised;
  if (Status read = read_intents(open, supervised); !read.ok()) return read;
  return open;
}

Status DatabaseStore::read_intents(std::vector<Intent>& open,
                                   std::map<std::string, std::string>& supervised) {
  Result<std::vector<Intent>> all = read_open_intents(db_);
  if (!all.ok()) return all.status();
  for (Intent& intent : *all) {
    if (intent.kind == Intent::Kind::Run && !supervised.count(intent.address)) {
      Result<std::optional<LockInfo>> by = supervisor_of(intent.address);
      if (!by.ok()) return by.status();
      if (*by) supervised[intent.address] = (*by)->text();
    }
    if (intent.kind != Intent::Kind::Run || !supervised.count(intent.address))
      open.push_back(std::move(intent));
  }
  return {};
}

Result<std::optional<LockInfo>> DatabaseStore::supervisor(const std::string& step) {
  std::lock_guard guard(mutex_);
  return supervisor_of(step);
}

Result<std::vector<HistoryEntry>> DatabaseStore::history(size_t newest) {
  std::lock_guard guard(mutex_);
  return read_history(db_, newest);
}

Result<std::vector<Owned>> DatabaseStore::owned() {
  std::lock_guard guard(mutex_);
  return read_owned(db_);
}

Result<std::string> DatabaseStore::whole_bytes() {
  std::lock_guard guard(mutex_);
  return db_.whole_bytes();
}

Result<std::vector<long long>> DatabaseStore::commit(const std::vector<StateChange>& changes) {
  std::vector<Waiting> own(1, Waiting{&changes});
  write_in_turn(own);
  if (!own[0].status.ok()) return own[0].status;
  return std::move(own[0].intents);
}

std::vector<Result<std::vector<long long>>> DatabaseStore::commit_each(
    const std::vector<std::vector<StateChange>>& lists) {
  std::vector<Waiting> own;
  own.reserve(lists.size());
  for (const std::vector<StateChange>& changes : lists) own.push_back({&changes});
  write_in_turn(own);
  std::vector<Result<std::vector<long long>>> results;
  results.reserve(lists.size());
  for (Waiting& each : own) {
    if (each.status.ok()) {
      results.emplace_back(std::move(each.intents));
    } else {
      results.emplace_back(std::move(each.status));
    }
  }
  return results;
}

// A caller that finds no writer becomes the writer. Callers that arrive meanwhile wait, and the first of them
// then writes for all. A caller's lists stay together, so all are done when the last one is.
void DatabaseStore::write_in_turn(std::vector<Waiting>& own) {
  if (own.empty()) return;
  std::unique_lock guard(turn_mutex_);
  waiting_.reserve(waiting_.size() + own.size());  // all of them or none
  for (Waiting& each : own) waiting_.push_back(&each);
  turn_.wait(guard, [&] { return own.back().done || !writing_; });
  if (!own.back().done) {
    writing_ = true;
    std::vector<Waiting*> batch;
    batch.swap(waiting_);
    guard.unlock();
    try {
      write_together(batch);
    } catch (...) {  // out of memory: do not leave others waiting for this turn
      for (Waiting* each : batch) each->broken = std::current_exception();
    }
    guard.lock();
    writing_ = false;
    for (Waiting* each : batch) each->done = true;
    turn_.notify_all();
  }
  if (own.back().broken) std::rethrow_exception(own.back().broken);
}

void DatabaseStore::write_together(const std::vector<Waiting*>& batch) {
  Status written = write_all(batch);
  if (written.ok()) written = persist();
  for (Waiting* each : batch) {
    if (each->status.ok()) each->status = written;
  }
}

Status DatabaseStore::write_all(const std::vector<Waiting*>& batch) {
  std::lock_guard guard(mutex_);
  if (lock_id_.empty()) return internal_error("the state was written without its lock");
  Transaction transaction(db_);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  if (Status held = check_held(); !held.ok()) return held;
  for (Waiting* each : batch) {
    if (batch.size() == 1) {
      each->status = write_one(*each);
      if (!each->status.ok()) return each->status;
      break;
    }
    if (Status saved = db_.run("SAVEPOINT one"); !saved.ok()) return saved;
    each->status = write_one(*each);
    if (!each->status.ok()) {
      if (Status back = db_.run("ROLLBACK TO one"); !back.ok()) return back;
    }
    if (Status released = db_.run("RELEASE one"); !released.ok()) return released;
  }
  return transaction.commit();
}

Status DatabaseStore::write_one(Waiting& one) {
  Writing writing{db_, world_.clock.wall_seconds(), lock_id_, principal_};
  for (const StateChange& change : *one.changes) {
    if (Status applied = apply_change(writing, change); !applied.ok()) return applied;
    if (std::holds_alternative<state_change::Begin>(change)) one.intents.push_back(writing.last_intent);
  }
  return db_.run("UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = 'serial'");
}

Status make_empty_state(Database& db, const std::string& name, World& world) {
  Transaction transaction(db);
  if (Status begun = transaction.begin(); !begun.ok()) return begun;
  Result<int> version = state_version(db);
  if (!version.ok()) return version.status();
  if (*version != 0) return {};  // another process was faster
  if (Status made = create_schema(db); !made.ok()) return made;
  const std::pair<const char*, std::string> rows[] = {{"name", name},
                                                      {"lineage", random_token(world.random)},
                                                      {"salt", random_token(world.random)},
                                                      {"serial", "0"}};
  for (const auto& [key, value] : rows) {
    if (Status put = write_meta(db, key, value); !put.ok()) return put;
  }
  return transaction.commit();
}

}  // namespace radl

// What every Store has in common that keeps its records in a Database: reading, and group commit. Internal to
// runtime/state.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>

#include "runtime/state/database.h"
#include "runtime/state/store.h"

namespace radl {

class DatabaseStore : public Store {
 public:
  DatabaseStore(Database db, World& world) : db_(std::move(db)), world_(world) {}

  Result<Snapshot> snapshot() override;
  Result<std::vector<Intent>> open_intents() override;
  Result<std::optional<LockInfo>> supervisor(const std::string& step) override;
  Result<std::vector<HistoryEntry>> history(size_t newest) override;
  Result<std::vector<Owned>> owned() override;
  Result<std::vector<long long>> commit(const std::vector<StateChange>& changes) override;
  std::vector<Result<std::vector<long long>>> commit_each(
      const std::vector<std::vector<StateChange>>& lists) override;

  // All of it as a SQLite file.
  Result<std::string> whole_bytes();
  // `db` is the state from now on, durable when this returns; needs the lock, which stays.
  virtual Status replace(Database db) = 0;
  // The end of the state, whatever it holds: its files and its lock. Needs the lock, which goes with it.
  virtual Status remove() = 0;

 protected:
  // The living run, other than this one, whose `open_intents` a snapshot has. With mutex_, within the
  // transaction that has read them.
  virtual Result<std::optional<LockInfo>> at_work(size_t open_intents) = 0;
  // supervisor(), with mutex_, within the transaction that has read the open intents.
  virtual Result<std::optional<LockInfo>> supervisor_of(const std::string& step) = 0;
  // Where the state is that this one is a copy of; "": it is none. With mutex_, within a transaction.
  virtual Result<std::string> copy_of() { return std::string(); }
  // Within the transaction that is about to write: whether the lock is still this run's.
  virtual Status check_held() = 0;
  // After the transaction, one thread at a time and without mutex_: where the database's own commit does not
  // make it durable.
  virtual Status persist() { return {}; }

  std::mutex mutex_;  // one connection: one statement at a time
  Database db_;
  World& world_;
  std::string lock_id_;  // empty: not held

 private:
  // Changes that a thread waits for to be durable.
  struct Waiting {
    const std::vector<StateChange>* changes;
    std::vector<long long> intents = {};
    Status status = {};
    std::exception_ptr broken = {};  // what the writer threw: thrown again by the thread that waits
    bool done = false;
  };
  Result<Snapshot> read_with_owner();
  // With mutex_. Those of supervised jobs go to `supervised` in place of `open`.
  Status read_intents(std::vector<Intent>& open, std::map<std::string, std::string>& supervised);
  // Returns when all of `own` are done.
  void write_in_turn(std::vector<Waiting>& own);
  // One transaction for all of them; each fails by itself, or all with what makes it durable.
  void write_together(const std::vector<Waiting*>& batch);
  Status write_all(const std::vector<Waiting*>& batch);
  Status write_one(Waiting& one);

  std::mutex turn_mutex_;
  std::condition_variable turn_;
  std::vector<Waiting*> waiting_;
  bool writing_ = false;
};

// The tables of a new infrastructure, with a lineage of its own, unless they are there.
Status make_empty_state(Database& db, const std::string& name, World& world);

}  // namespace radl

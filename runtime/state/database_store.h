// Base of the Stores that keep their records in a Database: reading, and group commit. Internal to
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

  // The complete state as a SQLite file.
  Result<std::string> whole_bytes();
  // Replaces the state by `db`; durable on return. Needs the lock, which stays held.
  virtual Status replace(Database db) = 0;
  // Deletes the state with its files and its lock. Needs the lock.
  virtual Status remove() = 0;

 protected:
  // The other live run whose `open_intents` a snapshot contains. Call with mutex_ held, in the transaction
  // that read them.
  virtual Result<std::optional<LockInfo>> at_work(size_t open_intents) = 0;
  // supervisor(); call with mutex_ held, in the transaction that read the open intents.
  virtual Result<std::optional<LockInfo>> supervisor_of(const std::string& step) = 0;
  // The location of the original, if this is a copy; else "". Call with mutex_ held, in a transaction.
  virtual Result<std::string> copy_of() { return std::string(); }
  // Call in the transaction that will write: Ok if this run still holds the lock.
  virtual Status check_held() = 0;
  // Called after the transaction, by one thread at a time and without mutex_, if the database's own commit is
  // not durable.
  virtual Status persist() { return {}; }

  std::mutex mutex_;  // serializes statements on the connection
  Database db_;
  World& world_;
  std::string lock_id_;  // empty: not held

 private:
  // Changes that a thread waits for.
  struct Waiting {
    const std::vector<StateChange>* changes;
    std::vector<long long> intents = {};
    Status status = {};
    std::exception_ptr broken = {};  // exception of the writer, rethrown in the waiting thread
    bool done = false;
  };
  Result<Snapshot> read_with_owner();
  // Call with mutex_ held. Intents of supervised jobs go to `supervised` instead of `open`.
  Status read_intents(std::vector<Intent>& open, std::map<std::string, std::string>& supervised);
  // Returns when all of `own` are done.
  void write_in_turn(std::vector<Waiting>& own);
  // Writes all in one transaction. Each may fail alone; all fail if the commit is not durable.
  void write_together(const std::vector<Waiting*>& batch);
  Status write_all(const std::vector<Waiting*>& batch);
  Status write_one(Waiting& one);

  std::mutex turn_mutex_;
  std::condition_variable turn_;
  std::vector<Waiting*> waiting_;
  bool writing_ = false;
};

// Creates the tables of a new infrastructure with its own lineage, unless they exist.
Status make_empty_state(Database& db, const std::string& name, World& world);

}  // namespace radl

// The state of one infrastructure (docs/state.md): a SQLite database (WAL, mode 0600) in a private folder, or
// one document in a bucket (docs/decisions/0013-state-in-a-bucket.md).
//
//   DIRECTORY/            .radl beside the source file, or --state; mode 0700
//     NAME/               one infrastructure
//       state.db          snapshot, journal, history, lock
//       id                shows that there is a state: NAME-LINEAGE, as clouds tag what is made
//       lock              held by the run that owns the lock
//       leases/           a file for each supervised job, held by its supervisor
//       work/             the clouds' own files (Context::work_directory)
//       logs/             full logs of steps
//       runs/             the events of runs (runtime/run/event_log.h)
//
//   s3://BUCKET/PREFIX    what `directory` may be as well
//     NAME/state.db.gz    the database, compressed; of a large state its head (stored_state.h)
//     NAME/lock           held by the run that it names
//     NAME/leases/        an object for each supervised job
//                         work/, logs/ and runs/ are on this computer, in the user's folder of states
//
// Readers need no lock. A writer takes the lock, and every write checks that it is still held. Writes are
// transactions with full sync (in a bucket: one conditional put ends each): a kill or a power cut leaves the
// state before one or after it. A full disk is
// Quota and leaves the state as it was. All calls may be made from several threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/status.h"
#include "common/stop.h"
#include "runtime/base/world.h"
#include "runtime/state/change.h"
#include "runtime/state/snapshot.h"

namespace radl {

struct LockInfo {
  std::string id;
  std::string owner;  // user name of the process
  std::string host;
  int pid = 0;
  unsigned long long pid_start = 0;
  std::string boot_id;
  std::string command;    // "apply"
  double since = 0;       // wall-clock seconds
  std::string principal;  // requesting user; "": written by an older radlc without it
  // "apply by ana on host7, process 4711, since 2026-11-21T02:54:11Z"; if a service acted for a user: "apply
  // by ana (as radl) on ...".
  std::string text() const;
};

struct HistoryEntry {
  long long serial = 0;
  double time = 0;
  std::string command;  // "apply", "destroy", "recover", "state rm"
  std::string summary;  // "3 created, 4 steps run"
  std::string source_digest;
  std::string principal;  // requesting user; "": written by an older radlc
};

// The right to supervise a job: to follow its processes, restart them and record their end. Independent of
// the state's lock. Held by the kernel (folder) or by renewals (bucket); ends with this object or the
// process. Must not outlive its store.
class JobLease {
 public:
  virtual ~JobLease() = default;
  // Conflict: another process requests the job or has it. The holder then leaves the job running, writes
  // nothing, and releases this.
  virtual Status still_held() = 0;
};

// A resource that belongs, or belonged, to this state.
struct Owned {
  std::string cloud;  // CloudId::text()
  std::string token;
  std::string id;  // empty: requested, without a known response
};

enum class OpenMode {
  Read,    // never changes a byte; NotFound without a state
  Write,   // NotFound without a state
  Create,  // creates it if missing
};

class Store {
 public:
  // Invalid: written by a newer radlc. Corrupt: not a state, damaged, or lost (the folder shows that there
  // was one). Auth: no permission. None of these is ever recreated. `stop`: for this and all later waits for
  // a bucket; writes still get 3 s.
  static Result<std::unique_ptr<Store>> open(const std::string& directory, const std::string& name,
                                             OpenMode mode, World& world, const Stop& stop = {});
  virtual ~Store() = default;

  // Takes the lock. A dead owner's lock is freed immediately; a live owner is waited for up to `timeout`,
  // then Conflict names it. Exists: this is a copy of another state (home.h). Lost: the state was removed
  // meanwhile; open it again. Released by unlock() or the destructor. Cancelled or Timeout: `stop` came
  // first.
  virtual Status lock(const std::string& command, std::chrono::milliseconds timeout,
                      const std::function<void(const LockInfo&)>& waiting = {}, const Stop& stop = {}) = 0;
  virtual void unlock() = 0;
  virtual Result<std::optional<LockInfo>> lock_holder() = 0;
  // Declares this place the state's own, even for a copy: the original no longer exists.
  virtual Status adopt() { return {}; }
  virtual Status force_unlock(const std::string& lock_id) = 0;  // Conflict unless the ID matches

  // Sets the requesting user for LockInfo and the history. Default: the user of this process.
  void act_for(std::string principal) { principal_ = std::move(principal); }

  // For the job with this step ID. Conflict: another process supervises it; the message names it. With
  // `take_over`, asks that process to release it and waits. Cancelled or Timeout: `stop` came first.
  virtual Result<std::unique_ptr<JobLease>> lease_job(const std::string& step, const std::string& command,
                                                      bool take_over, const Stop& stop) = 0;
  // The supervisor.
  virtual Result<std::optional<LockInfo>> supervisor(const std::string& step) = 0;

  virtual Result<Snapshot> snapshot() = 0;
  // Excludes intents of supervised jobs (Snapshot::supervised).
  virtual Result<std::vector<Intent>> open_intents() = 0;
  virtual Result<std::vector<HistoryEntry>> history(size_t newest) = 0;
  // Everything that this state created or imported, as far back as the journal goes, and has not released.
  virtual Result<std::vector<Owned>> owned() = 0;

  // Writes all changes in order, or none; needs the lock. Returns when they are durable:
  // concurrent calls are made durable together. Returns the IDs of the intents that were opened,
  // in order.
  virtual Result<std::vector<long long>> commit(const std::vector<StateChange>& changes) = 0;
  // commit() for several independent lists, as if from separate threads: one can fail alone. Returns one
  // result per list, in order.
  virtual std::vector<Result<std::vector<long long>>> commit_each(
      const std::vector<std::vector<StateChange>>& lists);

  // False after a write could not be made durable: start nothing new, because it could not be recorded.
  virtual bool can_write() const { return true; }

  // Ok while the lock is held, or if none was taken. Conflict: another run has it. Other errors: why it
  // cannot be renewed although it has expired.
  virtual Status still_held() { return {}; }
  // Requested once still_held() is not ok: end running work and request nothing more, since another run may
  // repeat it. Never requested for locks that cannot be lost.
  virtual Stop lost() { return {}; }

  // --- writes of runs, each one commit() ---
  Result<Intent> begin(Intent intent);  // Create, Update, Destroy; returns it with its id
  // Run: stores the step as Interrupted, which is correct unless finish_run follows.
  Result<Intent> begin_run(StepRecord record);
  // Closes an intent together with its result. For Create or Update, stores the resource; for
  // Destroy, removes it and the records of its steps; for Run, stores the step. nullptr: no
  // result.
  Status finish(const Intent& intent, const ResourceRecord* made);
  // `keep_steps`: for a replacement, whose steps stay until they have run again.
  Status finish_destroy(const Intent& intent, bool keep_steps);
  Status finish_run(const Intent& intent, const StepRecord& record);
  Status put_resource(const ResourceRecord& record);
  // Removes its record, records of steps that exist only on it, and intents of an interrupted run on it.
  Status remove_resource(const std::string& address);
  // state_change::Release.
  Status release(const std::string& address);
  Status forget_step(const std::string& id);
  // state_change::Move. Exists, NotFound; Invalid for an unsuitable name.
  Status move(const std::string& from, const std::string& to);
  Status put_owner(const std::string& cloud, const std::string& owner);
  Status close_run(state_change::CloseRun run);

  virtual std::string work_directory() const = 0;  // created when opened for writing
  virtual std::string log_directory() const = 0;
  virtual std::string run_directory() const = 0;  // created with the first run
  virtual std::string path() const = 0;           // of state.db

 protected:
  std::string principal_;
};

// Names of infrastructures that have a state in `directory`, or had one that was lost; sorted.
Result<std::vector<std::string>> list_states(const std::string& directory, const Environment& environment,
                                             const Stop& stop = {});
// Store::work_directory() of a state that may not exist yet.
std::string work_directory_of(const std::string& directory, const std::string& name,
                              const Environment& environment);
// ".radl" in the folder of the source file.
std::string default_state_directory(const std::string& source_path);
// Removes the state's files, and also `directory` if this was the last state and it is named .radl. Conflict:
// it has resources, open intents or a live lock.
Status remove_state(const std::string& directory, const std::string& name, World& world,
                    const Stop& stop = {});
// Removes the files of a state's copy; the original and its resources stay. Conflict: it is not a
// copy.
Status discard_copy(const std::string& directory, const std::string& name, World& world);
// Cleans up after runs killed while creating or removing a state: removes folders without one. A folder with
// any other content is kept.
Status sweep_unmade_states(const std::string& directory);

}  // namespace radl

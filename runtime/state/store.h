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
  double since = 0;       // wall seconds
  std::string principal;  // who asked for it; "": written by an older radlc, which did not say
  // "apply by ana on host7, process 4711, since 2026-11-21T02:54:11Z"; if a service asked for somebody:
  // "apply by ana (as radl) on ...".
  std::string text() const;
};

struct HistoryEntry {
  long long serial = 0;
  double time = 0;
  std::string command;  // "apply", "destroy", "recover", "state rm"
  std::string summary;  // "3 created, 4 steps run"
  std::string source_digest;
  std::string principal;  // who asked for it; "": written by an older radlc
};

// The right to supervise a job: to follow its processes, restart them and record their end. It is held beside
// the state's lock and without it, in a folder by the kernel, in a bucket by renewing it; it ends with this
// object, or with the process. Not longer than its store.
class JobLease {
 public:
  virtual ~JobLease() = default;
  // Conflict: somebody else asks for the job or has it. Then its holder leaves the job running, writes
  // nothing, and gives this back.
  virtual Status still_held() = 0;
};

// A resource that is, or was, this state's.
struct Owned {
  std::string cloud;  // CloudId::text()
  std::string token;
  std::string id;  // empty: it was asked for, and no answer is known
};

enum class OpenMode {
  Read,    // never changes a byte; NotFound when there is no state yet
  Write,   // NotFound when there is no state yet
  Create,  // makes it when it is not there
};

class Store {
 public:
  // Invalid: written by a newer radlc; Corrupt: not a state of radlc, or damaged, or lost (the folder shows
  // that there was one); Auth: no permission. None of these is ever started over. `stop`: of this wait and of
  // all later ones for a bucket; a write still gets 3 s.
  static Result<std::unique_ptr<Store>> open(const std::string& directory, const std::string& name,
                                             OpenMode mode, World& world, const Stop& stop = {});
  virtual ~Store() = default;

  // Takes the one lock. A dead owner's is freed at once; a living one's is waited for up to `timeout`, then
  // it is Conflict and says who holds it. Exists: this is a copy of another state (home.h). Lost: the state
  // was removed meanwhile; open it again. Released by unlock() or the destructor. Cancelled or Timeout:
  // `stop` came first.
  virtual Status lock(const std::string& command, std::chrono::milliseconds timeout,
                      const std::function<void(const LockInfo&)>& waiting = {}, const Stop& stop = {}) = 0;
  virtual void unlock() = 0;
  virtual Result<std::optional<LockInfo>> lock_holder() = 0;
  // The place of this state is its own from now on, also where it is a copy: the original is gone.
  virtual Status adopt() { return {}; }
  virtual Status force_unlock(const std::string& lock_id) = 0;  // Conflict unless that is the id

  // Who asked for what this store writes, for LockInfo and the history. Default: the user of this process.
  void act_for(std::string principal) { principal_ = std::move(principal); }

  // Of the job with this step's id. Conflict: it is supervised by somebody else, whom the message names; with
  // `take_over` that one is told to let go, and waited for first. Cancelled or Timeout: `stop` came first.
  virtual Result<std::unique_ptr<JobLease>> lease_job(const std::string& step, const std::string& command,
                                                      bool take_over, const Stop& stop) = 0;
  // Who supervises it.
  virtual Result<std::optional<LockInfo>> supervisor(const std::string& step) = 0;

  virtual Result<Snapshot> snapshot() = 0;
  // Those of supervised jobs (Snapshot::supervised) are not among them.
  virtual Result<std::vector<Intent>> open_intents() = 0;
  virtual Result<std::vector<HistoryEntry>> history(size_t newest) = 0;
  // Whatever this state has created or imported, as far back as the journal goes, and has not released.
  virtual Result<std::vector<Owned>> owned() = 0;

  // Writes all the changes, in their order, or none of them; needs the lock. Returns when they are durable:
  // what several threads hand in at the same time is made durable together. Gives the ids of the intents that
  // were begun, in their order.
  virtual Result<std::vector<long long>> commit(const std::vector<StateChange>& changes) = 0;
  // commit() of each of several lists, as if each came from a thread of its own: one that cannot be written
  // fails alone. One result for each, in their order.
  virtual std::vector<Result<std::vector<long long>>> commit_each(
      const std::vector<std::vector<StateChange>>& lists);

  // False once a write could not be made durable: nothing new may be begun then, as it could not be recorded.
  virtual bool can_write() const { return true; }

  // Ok while the lock is held, and where none was taken. Conflict: another run has it; else why it cannot be
  // renewed, though its time is over.
  virtual Status still_held() { return {}; }
  // Asked once still_held() is not ok: whatever is under way must end and nothing more be asked for, since
  // another run may do it anew. Never, where a lock cannot be lost.
  virtual Stop lost() { return {}; }

  // --- what runs write, each one commit() ---
  Result<Intent> begin(Intent intent);  // Create, Update, Destroy; returns it with its id
  // Run: the step is put as Interrupted, which is what it is unless finish_run says otherwise.
  Result<Intent> begin_run(StepRecord record);
  // Closes an intent together with what came of it. An outcome of Create or Update puts the resource, of
  // Destroy removes it and the records of its steps, of Run puts the step; nullptr means that nothing came of
  // it.
  Status finish(const Intent& intent, const ResourceRecord* made);
  // `keep_steps`: a replacement, whose steps stay known until they have run again.
  Status finish_destroy(const Intent& intent, bool keep_steps);
  Status finish_run(const Intent& intent, const StepRecord& record);
  Status put_resource(const ResourceRecord& record);
  // Forgets it, the records of steps that are only on it, and what an interrupted run had begun on it.
  Status remove_resource(const std::string& address);
  // state_change::Release.
  Status release(const std::string& address);
  Status forget_step(const std::string& id);
  // state_change::Move. Exists, NotFound; Invalid for a name that such a thing cannot have.
  Status move(const std::string& from, const std::string& to);
  Status put_owner(const std::string& cloud, const std::string& owner);
  Status close_run(state_change::CloseRun run);

  virtual std::string work_directory() const = 0;  // made on open for writing
  virtual std::string log_directory() const = 0;
  virtual std::string run_directory() const = 0;  // made with the first run
  virtual std::string path() const = 0;           // of state.db

 protected:
  std::string principal_;
};

// The names of the infrastructures that have a state in `directory`, or had one and lost it, sorted.
Result<std::vector<std::string>> list_states(const std::string& directory, const Environment& environment,
                                             const Stop& stop = {});
// Store::work_directory() of a state that may not be there yet.
std::string work_directory_of(const std::string& directory, const std::string& name,
                              const Environment& environment);
// ".radl" in the folder of the source file.
std::string default_state_directory(const std::string& source_path);
// Removes the state's files, and `directory` with the last state when its name is .radl. Conflict while it
// holds resources, open intents or a living lock.
Status remove_state(const std::string& directory, const std::string& name, World& world,
                    const Stop& stop = {});
// Removes the files of a copy of a state; the original and all that it has stay as they are. Conflict: it is
// no copy.
Status discard_copy(const std::string& directory, const std::string& name, World& world);
// Takes away what a run leaves that is killed while it makes or removes a state: folders in which there is
// (no longer) one. A folder with anything else in it stays.
Status sweep_unmade_states(const std::string& directory);

}  // namespace radl

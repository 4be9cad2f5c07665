// State shared by all actions of a run: the current records, contexts for providers, connections and events.
// Internal to runtime/exec; thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/exec/event_stream.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/lock_share.h"

namespace radl {

// A creation with an open intent: requested, or about to be.
struct OpenCreation {
  long long intent = 0;
  std::string token;
  size_t offer = 0;  // index into Action::offers
};

class Execution {
 public:
  Execution(const Run& run, Snapshot snapshot);

  const Run& run;
  EventStream events;
  const std::chrono::steady_clock::time_point begun = run.world->clock.now();

  World& world() const { return *run.world; }
  Store& store() const { return *run.store; }
  const ApplyOptions& options() const { return run.options; }

  LockShare& lock() { return lock_; }
  // True if running jobs are to be left alone now.
  bool leaves_jobs() const { return lock_.given_back() && (options().detach || run.let_go.asked()); }
  // Conflict: another run changed something that this action concerns while the lock was released.
  Status check_undisturbed(const Action& action) const;
  bool is_disturbed(const std::string& id) const;  // a resource's address, or a step's id
  // Another run has taken over a job of this run, so this run's later writes do not count.
  void note_taken_over() { taken_over_ = true; }
  bool was_taken_over() const { return taken_over_; }

  // True if nothing new may start and current work must end. A job counts as new at each step, so on the
  // first Ctrl-C it stops at its next checkpoint.
  bool stop_starting() const { return finishing_.asked(); }
  bool stop_now() const { return now_.asked(); }
  int stop_level() const {
    if (run.store && !run.store->still_held().ok()) return 2;
    return run.cancellation ? run.cancellation->level() : 0;
  }
  // The same for waits: set by the first and by the second request to stop. Valid as long as this object.
  const Stop& finishing() const { return finishing_; }
  const Stop& now() const { return now_; }
  // Call before any other: the first request to stop then also ends read-only calls.
  void only_looks() { now_ = finishing_; }

  // Context of one call of a provider or a runner about `id`.
  Context context(const std::string& id, std::chrono::steady_clock::time_point deadline, bool is_job = false);
  std::chrono::steady_clock::time_point in(std::chrono::milliseconds time) {
    return world().clock.now() + time;
  }

  // Calls `look` with the state locked; it must be quick.
  template <class Look>
  auto read(Look look) const {
    std::lock_guard guard(mutex_);
    return look(snapshot_);
  }
  // Return copies, because other actions change the state.
  Snapshot snapshot() const;
  std::optional<ResourceRecord> resource(const std::string& address) const;
  std::optional<StepRecord> step(const std::string& id) const;
  std::optional<Json> known(const std::string& unknown_name) const;
  // Update the copy in memory. Call them after the write to the store.
  void put(const ResourceRecord& record);
  void put(const StepRecord& record);
  void remove_resource(const std::string& address, bool keep_steps);
  void forget(const std::string& step);

  // Creations with open intents: in progress, or with unknown outcome. Entries keep their address until they
  // are taken.
  const OpenCreation& put_open_creation(const std::string& address, OpenCreation open);
  const OpenCreation* open_creation(const std::string& address) const;
  std::optional<OpenCreation> take_open_creation(const std::string& address);

  // Updates of this run with unknown outcome; their intents are open.
  void put_unresolved(const Intent& intent);
  std::optional<Intent> take_unresolved(const std::string& address);

  // Marks a node that failed or was given up, so that nothing waits to connect through it.
  void note_failed(const std::string& address);

  const std::map<std::string, std::string>& fingerprints() const { return fingerprints_; }  // of secrets
  const ir::Node* node(const std::string& address) const;
  const ir::Step* step_of_program(const std::string& id) const;
  // Connecting also ends with `stop`.
  NodeHandle handle(const std::string& address, const Stop& stop = {});
  std::vector<NodeHandle> all_handles(const Stop& stop = {});
  // Connects, and retries for up to `patience` if the machine does not respond. The execution keeps the
  // connection.
  Result<Remote*> connect(const std::string& address, std::chrono::milliseconds patience,
                          const Stop& stop = {});
  // Makes one attempt until `end`; the execution keeps the connection. A machine that was never reached
  // counts as booting.
  Status connect_once(const std::string& address, std::chrono::steady_clock::time_point end);
  void drop_connection(const std::string& address);
  // Another machine answers at this address: this run no longer connects to it.
  void distrust(const std::string& address, const Status& why);
  // True if `text` differs from the last text given for this machine.
  bool news_for(const std::string& address, const std::string& text);

 private:
  struct Connection {
    std::mutex mutex;
    std::unique_ptr<Remote> remote;
  };
  std::shared_ptr<Connection> connection(const std::string& address);
  Status learn_host_key(ResourceRecord& record, const std::optional<ResourceRecord>& jump,
                        const Context& context);
  // Returns the jump host of a private machine; empty if it is reached directly. Retry: the jump host does
  // not exist yet.
  Result<std::optional<ResourceRecord>> leading_to(const ResourceRecord& record) const;
  Result<std::unique_ptr<Remote>> attempt(const std::string& address,
                                          std::chrono::steady_clock::time_point end);

  void note_waiting(const LockInfo& holder);
  void note_creations(const std::vector<Intent>& open);  // with mutex_
  // Reads the state again, because other runs may have changed it.
  Status read_again();

  Stop finishing_, now_;
  LockShare lock_;
  const std::string run_id_ = random_token(run.world->random);
  std::atomic<bool> taken_over_{false};
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();  // by all calls
  mutable std::mutex mutex_;
  Snapshot snapshot_;
  std::map<std::string, std::string> fingerprints_;
  std::vector<const ir::Node*> nodes_;  // of the program, by address
  std::map<std::string, const ir::Step*> steps_;
  std::map<std::string, std::shared_ptr<Connection>> connections_;
  std::map<std::string, OpenCreation> open_creations_;
  std::map<std::string, Intent> unresolved_;
  std::map<std::string, Status> distrusted_;  // by machine
  std::set<std::string> failed_;              // of note_failed()
  std::map<std::string, std::string> told_;   // news_for(): by machine
  std::set<std::string> disturbed_;           // changed by others: addresses and step ids
};

}  // namespace radl

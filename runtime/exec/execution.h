// What all actions of a run share: the state as it is now, contexts for providers, connections, events.
// Internal to runtime/exec; safe to use from several threads.
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

// A creation that was asked for, or is about to be, and whose intent is open.
struct OpenCreation {
  long long intent = 0;
  std::string token;
  size_t offer = 0;  // of Action::offers
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
  // Whether jobs that run are to be left alone now.
  bool leaves_jobs() const { return lock_.given_back() && (options().detach || run.let_go.asked()); }
  // Conflict: what this action concerns was changed by another run while the lock was given back.
  Status check_undisturbed(const Action& action) const;
  bool is_disturbed(const std::string& id) const;  // a resource's address, or a step's id
  // Another run has taken over a job of this run: nothing that this run still writes counts.
  void note_taken_over() { taken_over_ = true; }
  bool was_taken_over() const { return taken_over_; }

  // Nothing new is begun; what is in flight ends now. A job counts as "new" at every step: it stops at
  // its next checkpoint on the first Ctrl-C.
  bool stop_starting() const { return finishing_.asked(); }
  bool stop_now() const { return now_.asked(); }
  int stop_level() const {
    if (run.store && !run.store->still_held().ok()) return 2;
    return run.cancellation ? run.cancellation->level() : 0;
  }
  // The same for what waits: from the first request on, and from the second. Not longer than this.
  const Stop& finishing() const { return finishing_; }
  const Stop& now() const { return now_; }
  // Before any call: the first request to stop ends calls that only look, too.
  void only_looks() { now_ = finishing_; }

  // For one call of a provider or a runner about `id`.
  Context context(const std::string& id, std::chrono::steady_clock::time_point deadline, bool is_job = false);
  std::chrono::steady_clock::time_point in(std::chrono::milliseconds time) {
    return world().clock.now() + time;
  }

  // `look` sees the state, which does not change meanwhile; it must be quick.
  template <class Look>
  auto read(Look look) const {
    std::lock_guard guard(mutex_);
    return look(snapshot_);
  }
  // Copies: other actions change the state meanwhile.
  Snapshot snapshot() const;
  std::optional<ResourceRecord> resource(const std::string& address) const;
  std::optional<StepRecord> step(const std::string& id) const;
  std::optional<Json> known(const std::string& unknown_name) const;
  // Keep the copy in memory as the store is; called after the store's own write.
  void put(const ResourceRecord& record);
  void put(const StepRecord& record);
  void remove_resource(const std::string& address, bool keep_steps);
  void forget(const std::string& step);

  // Creations whose intents are open: under way, or nobody knows what came of them. What is put stays where
  // it is until it is taken.
  const OpenCreation& put_open_creation(const std::string& address, OpenCreation open);
  const OpenCreation* open_creation(const std::string& address) const;
  std::optional<OpenCreation> take_open_creation(const std::string& address);

  // Updates of this run whose outcome is not known: their intents are open.
  void put_unresolved(const Intent& intent);
  std::optional<Intent> take_unresolved(const std::string& address);

  // A node of this run that could not be made or reached, or was given up: nobody waits to go through it.
  void note_failed(const std::string& address);

  const std::map<std::string, std::string>& fingerprints() const { return fingerprints_; }  // of the secrets
  const ir::Node* node(const std::string& address) const;
  const ir::Step* step_of_program(const std::string& id) const;
  // Their connecting ends with `stop` as well.
  NodeHandle handle(const std::string& address, const Stop& stop = {});
  std::vector<NodeHandle> all_handles(const Stop& stop = {});
  // Connects, trying for up to `patience` where the machine does not answer; the execution is kept.
  Result<Remote*> connect(const std::string& address, std::chrono::milliseconds patience,
                          const Stop& stop = {});
  // One attempt, by `end` at the latest; the execution is kept. While the machine has never been reached it
  // is taken to be booting.
  Status connect_once(const std::string& address, std::chrono::steady_clock::time_point end);
  void drop_connection(const std::string& address);
  // Somebody else answers at that machine's address: nobody connects to it any more in this run.
  void distrust(const std::string& address, const Status& why);
  // Whether `text` is another one than was given for that machine before.
  bool news_for(const std::string& address, const std::string& text);

 private:
  struct Connection {
    std::mutex mutex;
    std::unique_ptr<Remote> remote;
  };
  std::shared_ptr<Connection> connection(const std::string& address);
  Status learn_host_key(ResourceRecord& record, const std::optional<ResourceRecord>& jump,
                        const Context& context);
  // The machine that leads to a private one. Nothing: it is reached directly. Retry: it is not there yet.
  Result<std::optional<ResourceRecord>> leading_to(const ResourceRecord& record) const;
  Result<std::unique_ptr<Remote>> attempt(const std::string& address,
                                          std::chrono::steady_clock::time_point end);

  void note_waiting(const LockInfo& holder);
  void note_creations(const std::vector<Intent>& open);  // with mutex_
  // Others may have written since.
  Status read_again();

  Stop finishing_, now_;
  LockShare lock_;
  const std::string run_id_ = random_token(run.world->random);
  std::atomic<bool> taken_over_{false};
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();  // by all of its calls
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
  std::set<std::string> disturbed_;           // what others have changed: addresses and ids of steps
};

}  // namespace radl

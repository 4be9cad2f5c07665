// Runs as a library: plan, apply, destroy and recover for whoever drives them, a command line, a service or a
// test. It prints nothing and asks nobody.
//
// In:  the place of a state, a compiled program with its secrets, and what a run needs of the world (Run).
// Out: plans; reports; and the run's events (event_hub.h), numbered from 1, handed to listeners as they
//      happen and kept beside the state, where any process can follow them or read them again (event_log.h).
//
//   auto run = ActiveRun::begin(parts, start);        // state, lock
//   (*run)->recover();                                // what an interrupted run left
//   auto plan = (*run)->plan(question);               // looks, compares; show it, ask
//   RunReport report = (*run)->apply(*plan);          // or destroy()
//   (*run)->close(stop);                              // gives the lock back, waits for listeners
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/exec/executor.h"
#include "runtime/exec/power.h"
#include "runtime/figures/figures.h"
#include "runtime/run/event_hub.h"
#include "runtime/run/event_log.h"
#include "runtime/run/planning.h"

namespace radl {

struct RunStart {
  std::string directory, name;  // of the state: Store::open
  OpenMode mode = OpenMode::Create;
  std::string command;  // "apply": for the lock, the history and the run's id
  // How long the lock is waited for while another run holds it; `waiting` hears once who that is.
  std::chrono::milliseconds lock_timeout{0};
  std::function<void(const LockInfo& holder)> waiting = {};
  std::string principal = {};  // requesting user; "": that of this process
};

// Opens the state and takes its lock. If the run that it waited for has removed the state, it opens the new
// one, if there is one. `stop` ends the wait for the lock; `waits` ends the store's waits for its bucket, as
// long as the store lives. Errors: Store::open's and Store::lock's but Lost; Conflict says who holds the
// lock.
Result<std::unique_ptr<Store>> open_locked(const RunStart& start, World& world, const Stop& stop = {},
                                           const Stop& waits = {});

class ActiveRun {
 public:
  // Opens the state and takes its lock. `parts`: all of it but store, sinks and cancellation; what it points
  // to outlives this. Errors: Store::open's and Store::lock's; Conflict says who holds the lock; Cancelled
  // when `cancellation` was asked to stop meanwhile.
  static Result<std::unique_ptr<ActiveRun>> begin(Run parts, const RunStart& start,
                                                  Cancellation& cancellation);
  // close(), within two seconds.
  ~ActiveRun();
  ActiveRun(const ActiveRun&) = delete;
  ActiveRun& operator=(const ActiveRun&) = delete;

  const std::string& id() const { return hub_.run(); }
  EventHub& events() { return hub_; }
  Store& store() { return *store_; }
  Result<Snapshot> snapshot() { return store_->snapshot(); }

  // Looks up what an interrupted run left (exec's recover()).
  Result<Recovery> recover();
  // What a destroy would leave alone (exec's look_for_others()).
  Result<Others> others() { return look_for_others(run_); }
  // destroy(): ids of what is to go although it is not this state's (Run::also).
  void destroy_also(std::set<std::string> ids) { run_.also = std::move(ids); }
  // Looks at the clouds, and with `everything` at nodes and steps as well; takes what it found into the
  // state.
  Result<Observed> look(bool everything);
  // What the clouds have now; nothing is written. May be called while a plan is executed.
  Result<Observed> glance();
  // look(), and a plan of what `question` asks for; the program may be compiled again by `question.prepare`.
  Result<Plan> plan(const PlanQuestion& question);

  // Waits without the state's lock, which others may have meanwhile, and takes it again; `waiting` hears once
  // of another run that has it then. Cancelled: somebody asked to stop. Lost: the state was removed.
  Status pause(std::chrono::milliseconds time,
               const std::function<void(const LockInfo& holder)>& waiting = {});

  // Execute a plan made from the state as it is now (Conflict otherwise). May be called again, with another
  // plan: the numbers of the events go on.
  RunReport apply(const Plan& plan);
  RunReport destroy(const Plan& plan);
  // Of the last apply or destroy: what it took and cost, beside what its plan said.
  RunFigures figures(const Plan& plan, const RunReport& report) const;
  double ended() const;  // wall seconds

  // Stop, start or reboot machines, beside any plan (runtime/exec/power.h).
  std::vector<PowerOutcome> change_power(const std::vector<std::string>& addresses, PowerChange change) {
    return radl::change_power(run_, addresses, change);
  }
  Result<std::string> make_image(const std::string& address, const std::string& name) {
    return radl::make_image(run_, address, name);
  }

  // Gives the lock back, then waits for listeners until `stop` (EventHub::close), the log of events among
  // them. The state can still be read.
  std::vector<ListenerEnd> close(const Stop& stop);

 private:
  ActiveRun(Run parts, std::string id);
  RunReport execute(const Plan& plan, RunReport (*how)(const Run&, const Plan&));

  Run run_;
  std::unique_ptr<Store> store_;
  RunClock clock_;  // of the last apply or destroy; outlives the hub
  EventHub hub_;
  std::shared_ptr<EventLog> log_;
  bool closed_ = false;
};

}  // namespace radl

// A destroy, from its question to its answer. A front end shows what each call gives, asks, and goes on:
//
//   Destroy destroy(host, request, cancellation, tell);
//   destroy.find();       // which infrastructure
//   destroy.begin();      // clouds, state and its lock, what an interrupted run left
//   destroy.make_plan();  // plan(): show it, ask
//   destroy.execute();    // listeners on run().events()
//   destroy.finish();     // removes the state, unless something still needs it
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/driver/machinery.h"
#include "runtime/driver/notice.h"
#include "runtime/driver/project_state.h"
#include "runtime/run/run.h"

namespace radl::driver {

struct DestroyRequest {
  ProjectOptions project;
  MachineryOptions machinery;
  std::vector<std::string> targets;
  std::vector<std::string> also;  // ids of what is not this state's and is destroyed all the same
  double lock_timeout = 0;        // seconds
};

struct Destroyed {
  RunReport report;
  Status figures_kept;  // a failure does not fail the destroy
};

// The resources that remain after everything was destroyed.
struct DestroyLeft {
  std::vector<std::string> exists;   // a line each: what still exists
  bool state_kept = false;           // `exists` needs it
  Status kept_for_another;           // Conflict: another run has taken the state's lock meanwhile
  std::vector<std::string> buckets;  // with models and checkpoints, which stay
};

class Destroy {
 public:
  // `host` and `cancellation` outlive it.
  Destroy(const Host& host, DestroyRequest request, Cancellation& cancellation, Tell tell);
  ~Destroy();
  Destroy(const Destroy&) = delete;
  Destroy& operator=(const Destroy&) = delete;

  // Removes states that no apply has finished making, and finds the one that is meant. NotFound: there is
  // none.
  Status find();
  const StatePlace& place() const { return place_; }
  Status make_machinery();
  // Opens and locks the state, and looks up what an interrupted run left. `sudo_password`: for nodes that are
  // given back; may be empty. If the status asks_whether_moved(), it may be called again after
  // take_over_state(). NotFound: another destroy has removed the state meanwhile.
  Status begin(const std::string& sudo_password);
  bool is_open() const { return run_ != nullptr; }
  // Invalid: prevent_destroy. NotFound: an id of `also` that nothing has.
  Status make_plan();
  const Plan& plan() const { return plan_; }
  // Ids of jobs that run, or may, and that end with the nodes of the plan.
  std::vector<std::string> ended_jobs() const;
  bool changes_anything() const { return plan_.changes_anything() || !request_.also.empty(); }
  ActiveRun& run() { return *run_; }

  // Executes the plan and gives the lock back.
  Destroyed execute();
  // After an execution of a whole plan that succeeded, and after the run's listeners have ended.
  Result<DestroyLeft> finish();

 private:
  Status add_others(const Others& others);
  std::vector<std::string> still_exists(const Snapshot& after, bool& needs_state) const;

  const Host& host_;
  DestroyRequest request_;
  Cancellation& cancellation_;
  const Tell tell_;
  StatePlace place_;
  std::unique_ptr<Machinery> machinery_;
  ir::Secrets secrets_;
  std::unique_ptr<ActiveRun> run_;
  Snapshot before_;
  Plan plan_;
  RunReport report_;
};

}  // namespace radl::driver

// A destroy in steps. A front end shows the result of each call, asks, and continues:
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
  std::vector<std::string> also;  // IDs of foreign resources to destroy as well
  double lock_timeout = 0;        // seconds
};

struct Destroyed {
  RunReport report;
  Status figures_kept;  // a failure does not fail the destroy
};

// Resources that remain after a successful destroy.
struct DestroyLeft {
  std::vector<std::string> exists;   // a line for each resource that still exists
  bool state_kept = false;           // because `exists` needs it
  Status kept_for_another;           // Conflict: another run has taken the state's lock
  std::vector<std::string> buckets;  // with models and checkpoints, which are kept
};

class Destroy {
 public:
  // `host` and `cancellation` must outlive this object.
  Destroy(const Host& host, DestroyRequest request, Cancellation& cancellation, Tell tell);
  ~Destroy();
  Destroy(const Destroy&) = delete;
  Destroy& operator=(const Destroy&) = delete;

  // Removes incomplete states of interrupted first applies, and finds the requested state. NotFound: there is
  // none.
  Status find();
  const StatePlace& place() const { return place_; }
  Status make_machinery();
  // Opens and locks the state, and looks up what an interrupted run left. `sudo_password`: for nodes to be
  // released; may be empty. If the status satisfies asks_whether_moved(), call again after take_over_state().
  // NotFound: another destroy has removed the state.
  Status begin(const std::string& sudo_password);
  bool is_open() const { return run_ != nullptr; }
  // Invalid: prevent_destroy. NotFound: an ID in `also` does not exist.
  Status make_plan();
  const Plan& plan() const { return plan_; }
  // IDs of jobs that run, or may run, and end with the plan's nodes.
  std::vector<std::string> ended_jobs() const;
  bool changes_anything() const { return plan_.changes_anything() || !request_.also.empty(); }
  ActiveRun& run() { return *run_; }

  // Executes the plan and releases the lock.
  Destroyed execute();
  // Call after a complete plan has succeeded and the run's listeners have ended.
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

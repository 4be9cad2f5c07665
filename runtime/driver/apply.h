// An apply, from its question to its answer. `scale` and `autoscale` are applies that choose nodes. A front
// end shows what each call gives, asks what it has to ask, and goes on:
//
//   Apply apply(host, request, cancellation, tell);
//   apply.load(ask);           // a saved plan, or the files: findings in project()
//   apply.begin();             // clouds, state and its lock, what an interrupted run left
//   apply.make_plan();         // plan(), forecasts(), within_budget(): show them; asks_approval()?
//   apply.check_buckets();
//   do {                       // listeners on run().events()
//     round = apply.run_round();
//   } while (round.goes_on && apply.plan_next_round().ok());
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/driver/next_round.h"
#include "runtime/driver/plan_forecasts.h"
#include "runtime/driver/plan_request.h"
#include "runtime/plan/plan_file.h"
#include "runtime/run/run.h"

namespace radl::driver {

// "keep", "retry" or "destroy", as --on-error has them.
OnError on_error_named(std::string_view name);

struct ApplyRequest {
  ProjectOptions project;  // or one saved plan as its only file
  MachineryOptions machinery;
  PlanRequest plan;
  std::optional<ScaleRequest> scale;  // jobs are left alone then
  OnError on_error = OnError::Keep;
  double lock_timeout = 0;  // seconds
  bool detach = false;      // ends when nothing but jobs is under way: they run on; a scale always does
  bool keep = false;        // no node of an elastic farm is removed
  // This job alone, which has begun and not ended: it is joined. Conflict if the plan does anything else.
  std::string job;
};

// What one execution of a plan came to.
struct ApplyRound {
  RunReport report;
  // Another round follows, for nodes that were preempted, lost or refused, or that elastic farms ask for or
  // leave: the report's failures are none of the apply's yet, and the next round joins the jobs that were
  // left running. Otherwise the lock is released.
  bool goes_on = false;
  LostNodes lost;                     // which the next round replaces
  std::chrono::milliseconds wait{0};  // before the next round
  std::vector<std::string> room;      // a line each: which nodes go to another region, or why none does
  Result<Snapshot> after = Snapshot();
  Status figures_kept, trainings_kept;  // failures do not fail the apply
};

class Apply {
 public:
  // `host` and `cancellation` outlive it.
  Apply(const Host& host, ApplyRequest request, Cancellation& cancellation, Tell tell);
  ~Apply();
  Apply(const Apply&) = delete;
  Apply& operator=(const Apply&) = delete;

  // As driver::load_project. Conflict: what a saved plan was made from has changed since.
  Status load(AskInput ask);
  Project& project() { return *project_; }  // after load(), also if it failed
  // Makes the machinery, opens and locks the state, and looks up what an interrupted run left. If the status
  // asks_whether_moved(), it may be called again after take_over_state(). Conflict: another run has the lock.
  Status begin();
  // The plan, or the saved one if the state and the world are as they were then. What an error of the
  // compiler would explain is in project().refused.
  Status make_plan();

  const Plan& plan() const { return plan_; }
  const std::vector<PlanForecast>& forecasts() const { return forecasts_; }
  const Status& within_budget() const { return within_; }  // of the plan that make_plan() made
  // Whether somebody has to approve the plan: a saved plan was approved when it was saved.
  bool asks_approval() const { return !saved_; }
  const ProjectOptions& options() const { return request_.project; }  // of a saved plan its own
  ActiveRun& run() { return *run_; }

  // A bucket that is missing or closed is known before a machine is paid for.
  Status check_buckets() const;

  ApplyRound run_round();
  // From now on as ApplyRequest::detach. Safe in a signal handler and in several threads.
  StopSource& leaving() { return leaving_; }
  // After a round that goes on: waits for ApplyRound::wait, without the lock, and makes the plan of the next.
  // Cancelled: somebody asked to stop. Invalid: it would cost more than is allowed.
  Status plan_next_round();

 private:
  Run parts() const;
  Status read_saved();
  Result<Plan> decide();
  void forecast();
  RoomSought seek_room(const RunReport& report);
  RunReport execute();
  void free_farms(ApplyRound& round);
  void check_suspects();
  bool detaches() const { return request_.detach || request_.scale.has_value(); }
  bool follows_scaling() const;
  void check_scaling();
  bool frees() const;
  bool drop_growth(const Status& within);
  std::optional<std::chrono::milliseconds> wait_for_next(const RunReport& report,
                                                         const RoomSought& room) const;

  const Host& host_;
  ApplyRequest request_;
  Cancellation& cancellation_;
  const Tell tell_;
  bool replacing_ = false;                   // nodes were lost in an earlier round
  bool approved_ = false;                    // the farms know what was approved of them
  bool growth_dropped_ = false;              // in the plan of the next round
  std::set<std::string> ended_farms_;        // their steps, in any round so far
  std::optional<RunReport> before_freeing_;  // of the round after which nodes of farms are removed
  NextRound next_;                           // outlives the run
  const double begun_;                       // wall seconds
  std::chrono::milliseconds wait_{0};
  StopSource leaving_;
  long long scaling_checked_ = -1;  // serial of the state then
  std::string scaling_refused_;     // as the user was told
  std::optional<SavedPlan> saved_;
  std::unique_ptr<Project> project_ = std::make_unique<Project>();
  std::unique_ptr<Machinery> machinery_;
  std::unique_ptr<ActiveRun> run_;
  Plan plan_;
  std::vector<PlanForecast> forecasts_;
  Status within_;
};

}  // namespace radl::driver

// An apply in steps. `scale` and `autoscale` are applies that choose nodes. A front end shows the result of
// each call, asks its questions, and continues:
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

// Parses "keep", "retry" or "destroy", the values of --on-error.
OnError on_error_named(std::string_view name);

struct ApplyRequest {
  ProjectOptions project;  // or one saved plan as its only file
  MachineryOptions machinery;
  PlanRequest plan;
  std::optional<ScaleRequest> scale;  // if set, jobs are left alone
  OnError on_error = OnError::Keep;
  double lock_timeout = 0;  // seconds
  bool detach = false;      // end once only jobs run, and leave them running; a scale always does
  bool keep = false;        // remove no node of an elastic farm
  // Joins this unfinished job and does nothing else. Conflict if the plan does anything else.
  std::string job;
};

// The result of executing a plan once.
struct ApplyRound {
  RunReport report;
  // True if another round follows: for nodes that were preempted, lost or refused, or for changes of elastic
  // farms. The failures of this round do not count yet, and the next round joins the running jobs. If false,
  // the lock is released.
  bool goes_on = false;
  LostNodes lost;                     // replaced by the next round
  std::chrono::milliseconds wait{0};  // before the next round
  std::vector<std::string> room;      // lines: which nodes move to another region, or why none does
  Result<Snapshot> after = Snapshot();
  Status figures_kept, trainings_kept;  // failures do not fail the apply
};

class Apply {
 public:
  // `host` and `cancellation` must outlive this object.
  Apply(const Host& host, ApplyRequest request, Cancellation& cancellation, Tell tell);
  ~Apply();
  Apply(const Apply&) = delete;
  Apply& operator=(const Apply&) = delete;

  // Like driver::load_project. Conflict: the sources of a saved plan have changed.
  Status load(AskInput ask);
  Project& project() { return *project_; }  // after load(), also if it failed
  // Creates the machinery, opens and locks the state, and looks up what an interrupted run left. If the
  // status satisfies asks_whether_moved(), call again after take_over_state(). Conflict: another run has the
  // lock.
  Status begin();
  // Makes the plan, or takes the saved one if the state and the clouds have not changed since. If the
  // compiler would explain an error, the explanation is in project().refused.
  Status make_plan();

  const Plan& plan() const { return plan_; }
  const std::vector<PlanForecast>& forecasts() const { return forecasts_; }
  const Status& within_budget() const { return within_; }  // of the plan that make_plan() made
  // True if the plan needs approval. A saved plan was approved when it was saved.
  bool asks_approval() const { return !saved_; }
  const ProjectOptions& options() const { return request_.project; }  // a saved plan has its own
  ActiveRun& run() { return *run_; }

  // Detects a missing or inaccessible bucket before anything costs money.
  Status check_buckets() const;

  ApplyRound run_round();
  // From then on like ApplyRequest::detach. Safe in signal handlers and from any thread.
  StopSource& leaving() { return leaving_; }
  // After a round with `goes_on`: waits for ApplyRound::wait without the lock, and makes the next plan.
  // Cancelled: the user stopped it. Invalid: the plan would exceed the cost limit.
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
  bool approved_ = false;                    // the approval is recorded in the farms
  bool growth_dropped_ = false;              // in the plan of the next round
  std::set<std::string> ended_farms_;        // step ids, of all rounds so far
  std::optional<RunReport> before_freeing_;  // report of the round before farm nodes are removed
  NextRound next_;                           // must outlive the run
  const double begun_;                       // wall seconds
  std::chrono::milliseconds wait_{0};
  StopSource leaving_;
  long long scaling_checked_ = -1;  // serial of the state at the last check
  std::string scaling_refused_;     // reason given to the user
  std::optional<SavedPlan> saved_;
  std::unique_ptr<Project> project_ = std::make_unique<Project>();
  std::unique_ptr<Machinery> machinery_;
  std::unique_ptr<ActiveRun> run_;
  Plan plan_;
  std::vector<PlanForecast> forecasts_;
  Status within_;
};

}  // namespace radl::driver

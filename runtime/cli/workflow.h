// What plan, apply and destroy share: open the state, recover, plan, show, ask, run, report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"
#include "runtime/driver/plan_forecasts.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run.h"
#include "runtime/runs/figures.h"
#include "runtime/state/store.h"

namespace radl::cli {

// The state for reading; an empty snapshot named `name` where there is none yet.
Result<Snapshot> read_snapshot(const std::string& directory, const std::string& name, const Stop& stop = {});

// Opens for writing and takes the lock, saying on standard error whom it waits for.
Result<std::unique_ptr<Store>> open_locked(const std::string& directory, const std::string& name,
                                           OpenMode mode, const std::string& command, double timeout_seconds);

// Puts it on the user's list of infrastructures. A list that cannot be written is a note, no error: nothing
// but `radlc list` needs it.
void remember(const std::string& directory, const std::string& name);

// The same as a run with events. `parts` as Machinery gives them, with program and secrets.
Result<std::unique_ptr<ActiveRun>> begin_run(Run parts, const std::string& directory, const std::string& name,
                                             OpenMode mode, const std::string& command, double lock_timeout,
                                             Cancellation& cancellation);
// Ends it; notes what of its events could not be kept.
void end_run(ActiveRun& run);

// Looks up what an interrupted run left and says what came of it.
Status recover_left(const Run& run);
Status recover_left(ActiveRun& run);

// --target, of plan, apply and destroy.
void add_target_option(CLI::App& command, std::vector<std::string>& targets);

struct PlanRequest {
  std::vector<std::string> replace, targets;
  bool refresh = false;
  std::string max_cost;  // of --max-cost; empty: none
  NoRoom no_room;        // what this apply has found out so far
};

// --max-cost, of plan and apply.
void add_max_cost_option(CLI::App& command, PlanRequest& request);
// Invalid where the plan costs more than --max-cost allows; says what would fit.
Status within_max_cost(const PlanRequest& request, const Plan& plan);
// The same, and takes from the plan what an apply could fall back to above it.
Status hold_to_max_cost(const PlanRequest& request, Plan& plan);

// For runtime/run; the project and the machinery outlive it.
PlanQuestion question_of(Project& project, const Machinery& machinery, const PlanRequest& request);

// driver::plan_forecasts; if the calibration cannot be read, a note says so and there are none.
std::vector<PlanForecast> forecasts_or_note(const Plan& plan, const Project& project,
                                            const Machinery& machinery, const Stop& stop = {});
// keep_trainings; if they cannot be kept, a note says so.
void keep_trainings_or_note(const Plan& plan, const Project& project, const Machinery& machinery,
                            const RunReport& report, const Snapshot& after);

// make_plan with everything that the state and the machinery know. `observed` may be null. With a refresh
// each cloud of the program is surveyed as well; where that fails the plan is made of the catalog and says so
// (Plan::unseen).
Result<Plan> plan_for(Project& project, const Snapshot& snapshot, const Machinery& machinery,
                      const PlanRequest& request, const Observed* observed, const Stop& stop = {});

// The plan's exit code: kWorldError, with the reasons on standard error, where a refresh could not look at
// something.
int report_unseen(const Session& session, const Plan& plan);

// Keeps what a run took and cost for `radlc history` and for the next plan. That it cannot be kept is a note,
// no error.
void keep_figures(RunFigures figures, const std::string& state_directory);

// Who hears a run's events, as the options ask for it: the screen, standard output, a file.
class Listeners {
 public:
  Status begin(ActiveRun& run, const Session& session, const RunOptions& options, const Plan& plan);
  // Waits until all have heard all, or `stop`; gives the terminal back. What could not be written of events.
  Status end(ActiveRun& run, const Stop& stop);

 private:
  struct Listener {
    ListenerId id;
    std::shared_ptr<EventSink> sink;
  };
  Status add(ActiveRun& run, std::string name, std::shared_ptr<EventSink> sink);
  std::vector<Listener> all_;
};

// Failures with their last lines and log, leftovers, and the exit code that fits.
int report_run(const Session& session, const RunReport& report, bool json);

// The table after an apply: accuracy, images/s, time by phase, where things are, and how to destroy it.
std::string summary_table(const Session& session, const Plan& plan, const RunReport& report,
                          const Snapshot& after, const std::string& destroy_command);

}  // namespace radl::cli

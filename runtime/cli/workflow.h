// What plan, apply and destroy share: open the state, recover, plan, show, ask, run, report.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cli/command.h"
#include "runtime/cli/project.h"
#include "runtime/cli/run_options.h"
#include "runtime/driver/notice.h"
#include "runtime/driver/plan_forecasts.h"
#include "runtime/driver/plan_request.h"
#include "runtime/driver/states.h"
#include "runtime/figures/figures.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/render.h"
#include "runtime/run/run.h"
#include "runtime/state/store.h"

namespace radl::cli {

// How a plan looks on standard output: in color and wrapped if that is a terminal.
PlanTextOptions plan_look(const Session& session);

// Prints what a run reports outside its events, on standard error.
Tell tell_on_stderr();

// driver::open_locked and begin_run, with the question whether the project was moved asked on the terminal.
Result<std::unique_ptr<Store>> open_locked(const Session& session, const std::string& directory,
                                           const std::string& name, OpenMode mode, const std::string& command,
                                           double timeout_seconds);
Result<std::unique_ptr<ActiveRun>> begin_run(const Session& session, const Run& parts,
                                             const std::string& directory, const std::string& name,
                                             OpenMode mode, const std::string& command, double lock_timeout,
                                             Cancellation& cancellation);
// True: the status was that question, the answer yes, and the state may be opened now.
bool was_moved(const Session& session, const Status& refused, const std::string& directory,
               const std::string& name);

// driver::remember; a list that cannot be written is a note.
void remember_or_note(const Host& host, const std::string& directory, const std::string& name);

// Ends it; notes what of its events could not be kept.
void end_run(ActiveRun& run);

// --target, of plan, apply and destroy.
void add_target_option(CLI::App& command, std::vector<std::string>& targets);

// --max-cost, of plan and apply.
void add_max_cost_option(CLI::App& command, PlanRequest& request);
// driver::plan_forecasts; if the calibration cannot be read, a note says so and there are none.
std::vector<PlanForecast> forecasts_or_note(const Plan& plan, const Project& project,
                                            const Machinery& machinery, const Stop& stop = {});
// keep_trainings; if they cannot be kept, a note says so.
void keep_trainings_or_note(const Plan& plan, const Project& project, const Machinery& machinery,
                            const RunReport& report, const Snapshot& after);
void note_unkept_trainings(const Status& kept);

// The plan's exit code: kWorldError, with the reasons on standard error, where a refresh could not look at
// something.
int report_unseen(const Session& session, const Plan& plan);

// driver::keep_figures; if they cannot be kept, a note says so.
void keep_figures_or_note(const Host& host, RunFigures figures, const std::string& state_directory);
void note_unkept_figures(const Status& kept);

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

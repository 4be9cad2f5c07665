// The states of infrastructures as a run opens, records and leaves them.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "runtime/driver/host.h"
#include "runtime/driver/notice.h"
#include "runtime/figures/figures.h"
#include "runtime/run/run.h"
#include "runtime/state/store.h"

namespace radl::driver {

// The state for reading; an empty snapshot named `name` if there is none yet.
Result<Snapshot> read_snapshot(const Host& host, const std::string& directory, const std::string& name,
                               const Stop& stop = {});

// Tells who holds the lock that a run waits for.
std::function<void(const LockInfo& holder)> tell_waiting(const Tell& tell);

// Opens for writing and takes the lock; `tell` hears whom it waits for. Conflict: another run holds the lock.
// Exists: the state lies in another place than it was made in (asks_whether_moved).
Result<std::unique_ptr<Store>> open_locked(const Host& host, const std::string& directory,
                                           const std::string& name, OpenMode mode, const std::string& command,
                                           double timeout_seconds, const Tell& tell);
// The same as a run with events. `parts` as Machinery gives them, with program and secrets.
Result<std::unique_ptr<ActiveRun>> begin_run(const Host& host, const Run& parts, const std::string& directory,
                                             const std::string& name, OpenMode mode,
                                             const std::string& command, double timeout_seconds,
                                             Cancellation& cancellation, const Tell& tell);

// Whether open_locked() or begin_run() ended with a question: was the project moved here, and is the original
// gone? The status says what was found. Yes: take_over_state(), and open it again.
inline bool asks_whether_moved(const Status& refused) { return refused.code() == Code::Exists; }
// From now on the state's place is where it lies.
Status take_over_state(const Host& host, const std::string& directory, const std::string& name);

// Looks up what an interrupted run left, and tells what came of it.
Status recover_left(const Run& run, const Tell& tell);
Status recover_left(ActiveRun& run, const Tell& tell);

// Puts it on the user's list of infrastructures. Only `radlc list` needs it.
Status remember(const Host& host, const std::string& directory, const std::string& name);
// Keeps what a run took and cost, for `radlc history` and for the next plan.
Status keep_figures(const Host& host, RunFigures figures, const std::string& state_directory);

}  // namespace radl::driver

// The farms of an infrastructure, read from their journals, and requests to them: used by `radlc farm` and
// the service (docs/farm.md).
#pragma once

#include <string>
#include <vector>

#include "runtime/farm/farm.h"
#include "runtime/state/snapshot.h"

namespace radl::driver {

struct KnownFarm {
  std::string job;     // the folder's name
  std::string folder;  // the farm's folder on this computer
  farm::Farm farm;
  std::string name() const;
};

// The farm in a folder. NotFound: it has no journal. Corrupt.
Result<KnownFarm> read_farm(const std::string& folder);
// The farms of an infrastructure, by job. A farm whose journal cannot be read does not hide the others.
struct FarmList {
  struct Unreadable {
    std::string job;
    Status why;
  };
  std::vector<KnownFarm> farms;
  std::vector<Unreadable> unreadable;
};
// Those of work_directory_of(); may be empty.
FarmList farms_of(const std::string& work_directory);
// The farm with this name or job, or the only one if `name` is empty. `infrastructure`: for messages.
// NotFound. Invalid: there are several. Corrupt: it may be one that cannot be read.
Result<KnownFarm> find_farm(const std::string& work_directory, const std::string& infrastructure,
                            const std::string& name);

// The output of `radlc farm status --json` for a farm. `state`: has the prices of its nodes. `now`:
// wall-clock seconds.
Json farm_status(const KnownFarm& known, const Snapshot& state, double now);
// Why a task waits or failed; "" if there is no reason to give.
std::string reason_of(const farm::Farm& farm, const farm::TaskRecord& task);
// The task with the best latest value of the search's metric; nullptr if none.
const farm::TaskRecord* best_task(const farm::Table& table);

// Every task with its state, node, times, parameters and metrics, without its command.
Json farm_tasks(const KnownFarm& known);
// The trials of a search with the metric's values over their reports (farm::plot_of()). `metric`: overrides
// the search's, or required for a farm without a search. Invalid: neither is available.
Result<Json> farm_curves(const KnownFarm& known, const std::string& metric = {});
// Which task ran where and when: the newest attempts, in farm::Timeline's format. "cost": of the nodes since
// the start of the run that the newest approval allows, by the prices in `state`; null if a price is unknown
// or nothing was approved.
Result<Json> farm_timeline(const KnownFarm& known, const Snapshot& state, double now);

// Retries failed or cancelled tasks, or cancels waiting or running ones; all or none. NotFound: no such task.
// Invalid: a task's state does not allow it.
Status retry_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now);
Status cancel_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now);

struct FarmAddition {
  std::string command;  // of a task, for the shell; "": see `trials`
  std::string name;     // of the task; "": the next free name
  double cpu = 1, memory = 0, gpu = 0, seconds = 0;
  size_t trials = 0;
};
// Adds a task, or trials to a search. Returns a description of what was added. Invalid, Exists.
Result<std::string> add_to_farm(const KnownFarm& known, const FarmAddition& added, double now);

}  // namespace radl::driver

// The farms of an infrastructure as their journals have them, and requests to them: what `radlc farm` and the
// service show and change (docs/farm.md).
#pragma once

#include <string>
#include <vector>

#include "runtime/farm/farm.h"
#include "runtime/state/snapshot.h"

namespace radl::driver {

struct KnownFarm {
  std::string job;     // the folder's name
  std::string folder;  // of the farm on this computer
  farm::Farm farm;
  std::string name() const;
};

// All farms of an infrastructure (work_directory_of()), by their jobs; none is not an error. Corrupt.
Result<std::vector<KnownFarm>> farms_of(const std::string& work_directory);
// The farm of this name or job, or the only one if `name` is empty. `infrastructure`: for messages. NotFound;
// Invalid: there are several.
Result<KnownFarm> find_farm(const std::string& work_directory, const std::string& infrastructure,
                            const std::string& name);

// What `radlc farm status --json` prints of a farm. `state`: has the prices of its nodes. `now`: wall
// seconds.
Json farm_status(const KnownFarm& known, const Snapshot& state, double now);
// Why a task waits, or why it failed; "" if there is nothing to say.
std::string reason_of(const farm::Farm& farm, const farm::TaskRecord& task);
// The task with the best last value of the search's metric; nullptr if none has one.
const farm::TaskRecord* best_task(const farm::Table& table);

// Every task with its state, node, times, parameters and metrics; not what it runs.
Json farm_tasks(const KnownFarm& known);
// The trials of a search with the values of their metric over their reports (farm::plot_of()). `metric`:
// another one than that of the search, or that of a farm without a search. Invalid: it has neither.
Result<Json> farm_curves(const KnownFarm& known, const std::string& metric = {});
// When each task ran on which node: the newest attempts, as farm::Timeline has them. "cost": of the nodes
// since the run began that the newest approval allows, by the prices in `state`; null if one is not known, or
// nothing was approved.
Result<Json> farm_timeline(const KnownFarm& known, const Snapshot& state, double now);

// Runs failed or cancelled tasks again, or cancels those that wait or run; all or none. NotFound: there is no
// such task. Invalid: one is in a state in which it cannot be.
Status retry_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now);
Status cancel_tasks(const KnownFarm& known, const std::vector<std::string>& tasks, double now);

struct FarmAddition {
  std::string command;  // of a task, for the shell; "": `trials` instead
  std::string name;     // of the task; "": the next free one
  double cpu = 1, memory = 0, gpu = 0, seconds = 0;
  size_t trials = 0;
};
// Adds a task, or trials to a search. Gives what was added, in words. Invalid, Exists.
Result<std::string> add_to_farm(const std::string& work_directory, const KnownFarm& known,
                                const FarmAddition& added, double now);

}  // namespace radl::driver

// Stateless parts of a farm's run (farm_run.h).
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/farm/farm.h"
#include "runtime/farm/search.h"
#include "runtime/farm/settings.h"
#include "runtime/farm/table.h"
#include "runtime/steps/jobs/member.h"

namespace radl::farm {

// Seconds since 1970.
double wall_seconds();
Json without_farm(Json program);
// The farm's settings as a journal event (farm_event()). `journal`: distinguishes the farm's journals.
Json settings_event(const Json& program, const FarmSettings& settings, const std::optional<Search>& search,
                    const std::string& journal);
// Identifies a node's files and tasks that are still usable: a digest of the program without its tasks and
// rules, and of the journal that has the tasks' attempts.
std::string run_of(Json program, const std::string& journal);
// How the node checks for its cloud's interruption notices; empty if the cloud does not support it.
NoticeSpec notices_of(const NodeHandle& node);
// The finite numbers among the members of a JSON object; empty if none.
Json numbers_of(const std::string& text);
// The next trial as a task; nullopt if none may be added now or no node has room.
Result<std::optional<Task>> next_trial(const Search& search, const Farm& farm, const Resources& needs);
// Tasks whose process has not ended, according to the table.
std::vector<TaskRecord> running_tasks(const Table& table);
// Events for waiting tasks that are too large for every node.
std::vector<Event> set_aside_events(const Farm& farm, double now);
// Timers by attempt.
class Timers {
 public:
  void add(const std::string& id, size_t node, std::chrono::milliseconds after);
  // Removes and returns the attempts and nodes that are due.
  std::vector<std::pair<std::string, size_t>> due();
  void clear() { all_.clear(); }

 private:
  std::map<std::string, std::pair<size_t, std::chrono::steady_clock::time_point>> all_;
};

// Fetches an attempt's output to a new folder `to`. Fails if the node no longer has it.
Result<jobs::Fetched> bring_output(jobs::Member& member, const std::string& id, const std::string& to);
// `trials`: of a search; 0 without one.
std::string progress_text(const Table& table, size_t trials);
// Invalid, with the first failures, if tasks failed and the program does not allow that.
Status failures_of(const Table& table, const Json& program);

}  // namespace radl::farm

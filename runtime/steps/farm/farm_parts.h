// Parts of a farm's run (farm_run.h) that need nothing of its state.
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
// What a journal knows of the farm (farm_event()). `journal`: tells it from other journals of the farm.
Json settings_event(const Json& program, const FarmSettings& settings, const std::optional<Search>& search,
                    const std::string& journal);
// Tells a node's files and tasks that are still of use from others: a digest of the program without its tasks
// and rules, and of the journal that knows the tasks' attempts.
std::string run_of(Json program, const std::string& journal);
// How the node is asked whether its cloud takes it back; not given where its cloud does not say.
NoticeSpec notices_of(const NodeHandle& node);
// The finite numbers among the members of a JSON object; empty if there are none.
Json numbers_of(const std::string& text);
// The next trial as a task; nothing if none may be added now, or no node has room for one.
Result<std::optional<Task>> next_trial(const Search& search, const Farm& farm, const Resources& needs);
// Tasks whose process has not ended, as far as the table knows.
std::vector<TaskRecord> running_tasks(const Table& table);
// Of the waiting tasks that no node is large enough for.
std::vector<Event> set_aside_events(const Farm& farm, double now);
// What is due later, by attempt.
class Timers {
 public:
  void add(const std::string& id, size_t node, std::chrono::milliseconds after);
  // The attempts and nodes that are due; they are forgotten.
  std::vector<std::pair<std::string, size_t>> due();
  void clear() { all_.clear(); }

 private:
  std::map<std::string, std::pair<size_t, std::chrono::steady_clock::time_point>> all_;
};

// Brings the output of an attempt into a new folder `to`. An error if the node no longer has it.
Result<jobs::Fetched> bring_output(jobs::Member& member, const std::string& id, const std::string& to);
// `trials`: of a search, 0 without one.
std::string progress_text(const Table& table, size_t trials);
// Invalid, with the first failures, if tasks failed and the program may not.
Status failures_of(const Table& table, const Json& program);

}  // namespace radl::farm

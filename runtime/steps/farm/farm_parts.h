// Parts of a farm's run (farm_run.h) that need nothing of its state.
#pragma once

#include <string>

#include "runtime/farm/settings.h"
#include "runtime/farm/table.h"
#include "runtime/steps/jobs/member.h"

namespace radl::farm {

// Seconds since 1970.
double wall_seconds();
Json without_farm(Json program);
// What a journal knows of the farm (farm_event()). `journal`: tells it from other journals of the farm.
Json settings_event(const Json& program, const FarmSettings& settings, const std::string& journal);
// Tells a node's files and tasks that are still of use from others: a digest of the program without its tasks
// and rules, and of the journal that knows the tasks' attempts.
std::string run_of(Json program, const std::string& journal);
// The finite numbers among the members of a JSON object; empty if there are none.
Json numbers_of(const std::string& text);
// Brings the output of an attempt into a new folder `to`. An error if the node no longer has it.
Result<jobs::Fetched> bring_output(jobs::Member& member, const std::string& id, const std::string& to);
// `trials`: of a search, 0 without one.
std::string progress_text(const Table& table, size_t trials);
// Invalid, with the first failures, if tasks failed and the program may not.
Status failures_of(const Table& table, const Json& program);

}  // namespace radl::farm

// The results of a finished training.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "runtime/steps/jobs/member.h"
#include "runtime/steps/training/result_record.h"

namespace radl::training {

using jobs::Member;
using jobs::NodeFile;

// A training that resumes on new nodes continues the events fetched before.
inline constexpr const char* kEventsOfResult = "events";

// Facts about the run collected by the runner.
struct RunFacts {
  Json finished = Json::object();        // the chief's last line
  Json exchange = Json::object();        // link data from a worker's last step line (docs/job.md)
  std::string dataset_note;              // if only a part of the dataset was used; else empty
  std::optional<double> first_step;      // seconds from the start of the apply to the first training step
  std::map<std::string, double> phases;  // wall-clock seconds
};

// Fetches a training's model, events and report from the chief's node to the folder `result`. Returns the
// step's output (docs/ir.md), with paths below `shown`. Adds the runner's facts to the report under "apply".
// `say` receives a line about each user file that was in the way.
Result<Json> bring_result(const std::string& result, const std::string& shown, const ResultOwner& owner,
                          Member& chief, const RunFacts& facts,
                          const std::function<void(const std::string&)>& say);

}  // namespace radl::training

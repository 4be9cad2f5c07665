// What a finished training leaves to its user.
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

// A training that resumes on new nodes goes on with the events that were brought before.
inline constexpr const char* kEventsOfResult = "events";

// What the runner saw of the run.
struct RunFacts {
  Json finished = Json::object();        // the chief's last line
  Json exchange = Json::object();        // what a worker's last step line says of its links (docs/job.md)
  std::string dataset_note;              // that only a part of the dataset was used, else empty
  std::optional<double> first_step;      // seconds from the apply's begin to the first training step
  std::map<std::string, double> phases;  // wall seconds
};

// Brings model, events and report of a training from the chief's node to the folder `result`; the step's
// output (docs/ir.md), in which they stand below `shown`. What the runner saw is added to the report under
// "apply". `say` gets a line about each file of the user's that was in the way.
Result<Json> bring_result(const std::string& result, const std::string& shown, const ResultOwner& owner,
                          Member& chief, const RunFacts& facts,
                          const std::function<void(const std::string&)>& say);

}  // namespace radl::training

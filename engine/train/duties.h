// The chief's duties, as a chief shares them with the members that may succeed it.
#pragma once

#include <string>

#include "engine/train/job.h"

namespace radl::engine {

// The outputs that the chief writes, and its recorded history (write_history()).
struct SharedDuties {
  bool model = false, checkpoint = false, events = false, report = false;
  std::string history;
};

SharedDuties duties_of(const Job& job);
std::string write_duties(const SharedDuties& duties);
// From another member of this job. No duties if `text` is anything else.
SharedDuties read_duties(const std::string& text);
// Whether a member with this job can take over. It cannot if the chief has shared nothing, or writes an
// output for which this job names no place.
bool can_take_over(const Job& job, const std::string& duties);

}  // namespace radl::engine

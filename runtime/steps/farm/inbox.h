// Requests to a farm that another process works on: files with one event each (runtime/farm/table.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/farm/table.h"

namespace radl::farm {

// Takes all requests out of the folder, in the order in which they were put there.
std::vector<Event> read_inbox(const std::string& folder);
// `name`: of the file; requests are taken in the order of their names.
Status put_in_inbox(const std::string& folder, const Event& event, const std::string& name);

}  // namespace radl::farm

// Requests to a farm that another process works on: files with one event each (runtime/farm/table.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/farm/table.h"

namespace radl::farm {

struct Request {
  std::string path;  // of its file: to be removed once the journal has the event
  Event event;       // null: the file is not a request
};
// All requests, in the order in which they were put there.
std::vector<Request> read_inbox(const std::string& folder);
// `name`: of the file; requests are taken in the order of their names.
Status put_in_inbox(const std::string& folder, const Event& event, const std::string& name);

}  // namespace radl::farm

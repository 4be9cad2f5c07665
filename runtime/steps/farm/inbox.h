// Requests to a farm that another process runs: files with one event each (runtime/farm/table.h).
#pragma once

#include <string>
#include <vector>

#include "runtime/farm/table.h"

namespace radl::farm {

struct Request {
  std::string path;  // of its file; remove it once the journal has the event
  Event event;       // null: the file is not a request
};
// All requests in the order of submission.
std::vector<Request> read_inbox(const std::string& folder);
// `name`: of the file; requests are processed in name order.
Status put_in_inbox(const std::string& folder, const Event& event, const std::string& name);

}  // namespace radl::farm

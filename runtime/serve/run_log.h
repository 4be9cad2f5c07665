// The text output of runs: the `contmsg` of the Infrastructure Manager.
#pragma once

#include <string>

namespace radl::serve {

// From the runs' events in `folder` (runtime/run/event_log.h). For the node `address`: its steps and their
// output; "": everything that concerns no single node.
std::string run_log(const std::string& folder, const std::string& address);

}  // namespace radl::serve

// What runs said, as text for people: the `contmsg` of the Infrastructure Manager.
#pragma once

#include <string>

namespace radl::serve {

// From the events that runs keep in `folder` (runtime/run/event_log.h). Of the node `address`: what steps on
// it did and printed; "": everything that concerns no single node.
std::string run_log(const std::string& folder, const std::string& address);

}  // namespace radl::serve

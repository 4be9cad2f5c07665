// What it takes to make a machine as its spec says.
#pragma once

#include <functional>

#include "runtime/clouds/gce/instance.h"

namespace radl::gce {

// Sends one change: the action behind the machine's path, its body and more of the query.
using Send = std::function<Asked(const std::string& action, Json body, Parameters query)>;
// The next of the changes that are to do; Accepted without `again`: there is none.
Asked change_instance(Asking& call, const Order& order, const InstanceNow& now, const Send& send);

}  // namespace radl::gce

// Changes a machine to match its spec.
#pragma once

#include <functional>

#include "runtime/clouds/gce/instance.h"

namespace radl::gce {

// Sends one change: the action after the machine's path, its body and further query parameters.
using Send = std::function<Asked(const std::string& action, Json body, Parameters query)>;
// Sends the next necessary change. Accepted without `again`: no change is left.
Asked change_instance(Asking& call, const Order& order, const InstanceNow& now, const Send& send);

}  // namespace radl::gce

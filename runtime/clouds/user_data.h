// What cloud-init finds in a machine's user data. Nothing in it is secret: whoever runs on the machine can
// read it.
#pragma once

#include <optional>
#include <string>

#include "runtime/clouds/auto_stop.h"

namespace radl {

// Multi-part (cloud-init, "MIME Multi Part Archive"): the host name with its domain, and the script that ends
// the machine where it is to end itself.
std::string user_data(const std::string& host_name, const std::optional<AutoStop>& stop);
// By a spec's "hostname" and "stop".
std::string user_data_of(const Json& spec);

}  // namespace radl

// Security admin rules of Azure Virtual Network Managers. They come before every network security group, and
// radlc neither creates nor changes them: they are noted for each machine (rules_of_others.h). Internal to
// this folder.
#pragma once

#include <map>
#include <string>

#include "runtime/clouds/azure/api.h"

namespace radl::azure {

// For the machines of `found` that this call has shown (Asking::networks): one request for each virtual
// network.
Status add_admin_rules(Asking& call, std::map<std::string, Seen>& found);

}  // namespace radl::azure

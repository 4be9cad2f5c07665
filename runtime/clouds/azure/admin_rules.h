// Security admin rules of Azure Virtual Network Managers. They take precedence over network security groups.
// radlc neither creates nor changes them, but notes them for each machine (rules_of_others.h). Internal to
// this folder.
#pragma once

#include <map>
#include <string>

#include "runtime/clouds/azure/api.h"

namespace radl::azure {

// For the machines of `found` that this call has seen (Asking::networks). Sends one request per virtual
// network.
Status add_admin_rules(Asking& call, std::map<std::string, Seen>& found);

}  // namespace radl::azure

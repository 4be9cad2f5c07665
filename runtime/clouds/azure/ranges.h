// Addresses of an infrastructure's virtual network: which range each of its subnets has. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::azure {

struct Ranges {
  std::map<std::string, std::string> subnets;  // name -> "10.7.0.0/20"
  std::vector<std::string> whole;              // of the network: all of them are inside
};

// `wanted`: name -> what the file says ("10.*.0.0/24": the first that is free; "": 16 ranges of /20 by the
// name, so that another network in the file changes nothing). Invalid: two overlap, or one is no range.
Result<Ranges> ranges_of(const std::vector<std::pair<std::string, std::string>>& wanted);

}  // namespace radl::azure

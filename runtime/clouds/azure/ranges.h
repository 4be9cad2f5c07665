// Address ranges of an infrastructure's virtual network and its subnets. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/status.h"

namespace radl::azure {

struct Ranges {
  std::map<std::string, std::string> subnets;  // name -> "10.7.0.0/20"
  std::vector<std::string> whole;              // of the network; contains all subnets
};

// `wanted`: name -> text of the file ("10.*.0.0/24": the first free range; "": 16 ranges of /20, chosen by
// the name so that another network in the file changes nothing). Invalid: two overlap, or one is malformed.
Result<Ranges> ranges_of(const std::vector<std::pair<std::string, std::string>>& wanted);

}  // namespace radl::azure

// Machine types with a CPU baseline, which exceed it with CPU credits: data/burstable.csv, whose header names
// the vendors' documents.
#pragma once

#include <string_view>

namespace radl {

struct Burstable {
  double cores = 0;           // usable at once
  double baseline = 0;        // share of each core that is always available
  double launch_credits = 0;  // credits of a new machine, in minutes of one core at full use
  bool unlimited = false;     // continues without credits and charges the surplus
  double surplus_usd = 0;     // price of a core-hour above the baseline; unlimited types only
};

// nullptr: the type always runs at full speed.
const Burstable* burstable(std::string_view cloud, std::string_view type);

}  // namespace radl

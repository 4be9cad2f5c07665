// Types whose processors compute at a baseline, and above it by CPU credits: data/burstable.csv, whose head
// says which documents of the vendors it is from.
#pragma once

#include <string_view>

namespace radl {

struct Burstable {
  double cores = 0;           // that it can use at once
  double baseline = 0;        // share of each core that it can use for ever
  double launch_credits = 0;  // minutes of one core at full use, that a new machine has
  bool unlimited = false;     // runs on without credits; the surplus is charged
  double surplus_usd = 0;     // of a core's hour above the baseline; unlimited ones alone
};

// nullptr: it computes at full speed for ever.
const Burstable* burstable(std::string_view cloud, std::string_view type);

}  // namespace radl

// Simulates a farm in virtual time on failing machines, from creation to removal: for `radlc test`.
//
// Pure. Placement, sizing, fences, quarantine and pauses use the code of real runs. Machines, their cloud,
// the storage and task lengths are drawn from the seed. The scheduler knows only its journal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/farm/settings.h"

namespace radl::farm {

struct TrialQuestion {
  const FarmSettings& settings;
  Resources offered;     // per node
  size_t most = 1;       // nodes
  bool elastic = false;  // if false, all nodes exist throughout
  double create_seconds = 120;
  uint64_t seed = 1;   // determines everything, including the strength of each fault
  bool faults = true;  // if false, only lengths differ from the plan
  // Kills the scheduler after this number of journal events. nullopt: at random.
  std::optional<size_t> kill_at = {};
};

struct TrialOutcome {
  std::string wrong;  // empty if each output is correct, exists once, and no node is left
  size_t events = 0;  // in the journal
  size_t kills = 0, preemptions = 0, lost = 0, refused = 0, quarantined = 0, pauses = 0;
  double seconds = 0, node_seconds = 0;  // of all machines, from their creation to their removal
  // Band of node_seconds predicted by the first plan. 0: it does not know the lengths.
  double predicted_low = 0, predicted_high = 0;
  bool within_band() const { return node_seconds >= predicted_low && node_seconds <= predicted_high; }
};

TrialOutcome try_farm(const TrialQuestion& question);

}  // namespace radl::farm

// A farm played in virtual time on machines that fail, from no node to no node: for `radlc test`.
//
// Pure. Placement, sizing, fences, quarantine and pauses are those of real runs; machines, their cloud, the
// storage and how long tasks take are drawn from the seed. The scheduler knows its journal and nothing else.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/farm/settings.h"

namespace radl::farm {

struct TrialQuestion {
  const FarmSettings& settings;
  Resources offered;     // by a node
  size_t most = 1;       // nodes
  bool elastic = false;  // else all nodes exist from the beginning to the end
  double create_seconds = 120;
  uint64_t seed = 1;   // decides about everything, also how strong each fault is
  bool faults = true;  // else lengths are all that differs from the plan
  // The scheduler is killed right after so many events of its journal; nothing: now and then.
  std::optional<size_t> kill_at = {};
};

struct TrialOutcome {
  std::string wrong;  // empty: each output once and right, and no node left
  size_t events = 0;  // of the journal
  size_t kills = 0, preemptions = 0, lost = 0, refused = 0, quarantined = 0, pauses = 0;
  double seconds = 0, node_seconds = 0;  // of all machines, from their creation to their removal
  // The band that the first plan predicts for node_seconds; 0: it does not know the lengths.
  double predicted_low = 0, predicted_high = 0;
  bool within_band() const { return node_seconds >= predicted_low && node_seconds <= predicted_high; }
};

TrialOutcome try_farm(const TrialQuestion& question);

}  // namespace radl::farm

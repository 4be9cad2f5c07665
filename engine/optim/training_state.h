// The complete state of a run between two updates: stored in checkpoints, distributed to members, and
// exchanged with servers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/status.h"
#include "engine/optim/optimizer.h"

namespace radl::engine {

struct TrainingState {
  uint64_t next = 0;                                // the first batch that was never assigned
  std::vector<uint64_t> again;                      // batches before `next` that are not in any update
  uint64_t version = 0;                             // updates applied
  std::vector<float> weights, statistics, average;  // average: empty before the first averaged update
  uint64_t averaged = 0;                            // updates in the average
  uint64_t optimizer_steps = 0;
  std::vector<std::vector<float>> optimizer;  // momenta and other slots, each as long as `weights`

  // Batches done.
  uint64_t done() const { return next - std::min<uint64_t>(next, again.size()); }
  friend bool operator==(const TrainingState&, const TrainingState&) = default;
};

// The parameters [first, end) and their state. Statistics and batches only with the first part.
TrainingState part_of(const TrainingState& whole, uint64_t first, uint64_t end);
// Copies such a part into `whole`, whose weights already have their size. Start with the part at first ==
// 0: it determines whether the whole has averages. Later parts may have been taken before or after
// averaging began; a part without averages contributes its weights instead. Corrupt: the part's length does
// not match.
Status put_part(TrainingState part, uint64_t first, uint64_t end, TrainingState& whole);

// The buffers of something that trains, as a state sees them.
struct Trainee {
  std::span<float> weights, statistics;
  Optimizer& optimizer;
  WeightAverage& average;

  // The optimizer's vectors in a state; those after them belong to a strategy (a velocity).
  size_t vectors() const { return weights.empty() ? 0 : optimizer.state().size() / weights.size(); }
  // Captures everything except which batches are done. `version` is the optimizer's steps.
  TrainingState capture() const;
  // Corrupt: a size does not match; nothing is changed.
  Status restore(const TrainingState& from) const;
};

}  // namespace radl::engine

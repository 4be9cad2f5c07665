// The complete state of a run between two updates: what a checkpoint holds, what members start from, what a
// server hands out and takes over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "common/status.h"
#include "engine/optim/optimizer.h"

namespace radl::engine {

struct TrainingState {
  uint64_t next = 0;                                // first batch that was never given out
  std::vector<uint64_t> again;                      // batches before `next` that are in no update
  uint64_t version = 0;                             // updates applied
  std::vector<float> weights, statistics, average;  // average: empty before the first update that counts
  uint64_t averaged = 0;                            // updates in it
  uint64_t optimizer_steps = 0;
  std::vector<std::vector<float>> optimizer;  // momenta and other slots, each as long as `weights`

  // Batches done.
  uint64_t done() const { return next - std::min<uint64_t>(next, again.size()); }
  friend bool operator==(const TrainingState&, const TrainingState&) = default;
};

// The parameters [first, end) and what belongs to them; statistics and batches only with the first of them.
TrainingState part_of(const TrainingState& whole, uint64_t first, uint64_t end);
// Puts such a part in its place in `whole`, whose weights have their size; the part with first == 0 comes
// first. It decides whether the whole has averages: parts taken one after another may be of the updates
// before and after averaging began. A part without averages then stands in with its weights. Corrupt if the
// part does not have the length of its place.
Status put_part(TrainingState part, uint64_t first, uint64_t end, TrainingState& whole);

// The places of a state in something that trains.
struct Trainee {
  std::span<float> weights, statistics;
  Optimizer& optimizer;
  WeightAverage& average;

  // Vectors of the optimizer in a state: those after them belong to a strategy (a velocity).
  size_t vectors() const { return weights.empty() ? 0 : optimizer.state().size() / weights.size(); }
  // All but which batches are done. `version` is the optimizer's steps.
  TrainingState capture() const;
  // Corrupt when a size does not fit; then nothing is changed.
  Status restore(const TrainingState& from) const;
};

}  // namespace radl::engine

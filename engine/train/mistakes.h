// The images that a network is surest about and wrong: for people, in TensorBoard.
#pragma once

#include <span>

#include "engine/data/dataset.h"
#include "engine/export/events.h"
#include "engine/train/evaluate.h"

namespace radl::engine {

inline constexpr size_t kMistakesShown = 16;

// Images "misclassified/00" ... and a text "misclassified" that says of each what it is, what it was taken
// for, how sure, and where it lies. Images that are neither grey nor RGB are listed only.
Status write_mistakes(exporter::EventWriter& events, int64_t step, const data::Dataset& dataset,
                      std::span<const Mistake> mistakes);

}  // namespace radl::engine

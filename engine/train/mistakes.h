// Shows the network's most confident mistakes in TensorBoard.
#pragma once

#include <span>

#include "engine/data/dataset.h"
#include "engine/export/events.h"
#include "engine/train/evaluate.h"

namespace radl::engine {

inline constexpr size_t kMistakesShown = 16;

// Writes images "misclassified/00" ... and a text "misclassified" with each image's label, prediction,
// confidence and origin. Images that are neither gray nor RGB are only listed.
Status write_mistakes(exporter::EventWriter& events, int64_t step, const data::Dataset& dataset,
                      std::span<const Mistake> mistakes);

}  // namespace radl::engine

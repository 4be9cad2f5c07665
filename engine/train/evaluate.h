// Evaluates a network on a dataset: loss, accuracy, confusion. Forward passes only, with running statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "common/stop.h"
#include "engine/data/augment.h"
#include "engine/data/dataset.h"
#include "engine/model/network.h"

namespace radl::engine {

// An image that was classified incorrectly.
struct Mistake {
  size_t index = 0;  // in the dataset
  int32_t label = 0, predicted = 0;
  float probability = 0;  // of the predicted class
};

struct Evaluation {
  double loss = 0, accuracy = 0;
  double accuracy_tta = 0;  // with test-time augmentation; 0 if not requested
  uint64_t images = 0, skipped = 0;
  std::vector<uint32_t> confusion;  // classes x classes, row = label, column = prediction
  std::vector<Mistake> mistakes;    // most confident first
};

struct EvaluateOptions {
  int batch_size = 128;  // at most the network's batch size
  // Test-time augmentation. `flip` averages the logits with those of the mirrored image. With `translate`,
  // that makes up half of the sum; the image shifted by this many pixels up and left, and down and right,
  // each also mirrored, makes up a quarter each. Pixels beyond the edge are reflected (Jordan 2024).
  bool flip = false;
  int translate = 0;
  bool skip_corrupt = false;
  Stop stop;
  size_t mistakes = 0;  // how many to list
};

// Cancelled if `stop` requests it.
Result<Evaluation> evaluate(Network& network, const data::Dataset& dataset,
                            const data::Normalization& normalization, const EvaluateOptions& options);

}  // namespace radl::engine

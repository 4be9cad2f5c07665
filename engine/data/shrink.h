// Shrinks a float image: each output pixel is the mean of the area that it covers.
#pragma once

#include <span>
#include <vector>

#include "engine/data/dataset.h"

namespace radl::engine::data {

class Shrink {
 public:
  // Neither side of `to` may exceed that of `from`; the channels must be equal.
  Shrink(InputShape from, InputShape to);
  InputShape to() const { return to_; }
  // Both are height x width x channels.
  void apply(std::span<const float> in, std::span<float> out) const;

 private:
  // Output i of one side is the sum of weight[i * most + k] * input[first[i] + k].
  struct Side {
    std::vector<int> first;
    std::vector<float> weight;
    int most = 1;
  };
  static Side side(int from, int to);

  InputShape from_, to_;
  Side rows_, columns_;
};

}  // namespace radl::engine::data

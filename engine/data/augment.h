// Augmentation and normalization: converts a stored image to an fp32 image.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/status.h"
#include "engine/data/dataset.h"

namespace radl::engine::data {

struct Augment {
  enum class Flip {
    None,
    Random,     // left-right with probability 1/2
    Alternate,  // half of the images (by seed and index) in even epochs, the others in odd ones
  };
  enum class Padding { Zero, Reflect };  // pixels beyond the edge of a shifted image; Zero: channel mean
  Flip flip = Flip::None;
  int translate = 0;  // pixels: shift by -n..n in both directions
  Padding padding = Padding::Reflect;
  int cutout = 0;        // side of one square set to the channel mean, centered anywhere in the image
  float crop_area = 1;   // below 1: random resized crop of at least this share of the area (aspect 3/4..4/3)
  float brightness = 0;  // factor 1 +- b
  float contrast = 0;    // factor 1 +- c about the image's mean
  float saturation = 0;  // factor 1 +- s around the pixel's gray (only with three channels)

  bool any() const;
};

// Converts stored images to network input of the same size. Thread-safe after construction if every thread
// has its own Scratch.
class Transform {
 public:
  struct Scratch {
    std::vector<uint8_t> stored, staged, resized;
  };

  Transform(InputShape shape, Augment augment, Normalization normalization);
  // Checks that the sizes and settings are consistent.
  static Status check(InputShape shape, const Augment& augment, const Normalization& n);

  // Training: random, determined by (seed, epoch, index).
  void train(const uint8_t* stored, uint64_t seed, uint64_t epoch, uint64_t index, Scratch& scratch,
             std::span<float> out) const;
  // Evaluation: unchanged, or mirrored and shifted (test-time augmentation).
  void evaluate(const uint8_t* stored, Scratch& scratch, std::span<float> out, bool mirror = false,
                int shift_y = 0, int shift_x = 0) const;

 private:
  void normalise(const uint8_t* image, std::span<float> out) const;
  void place(const uint8_t* from, int top, int left, bool mirror, std::vector<uint8_t>& staged) const;
  void cut_out(int centre_y, int centre_x, std::span<float> out) const;

  InputShape shape_;
  Augment augment_;
  std::vector<float> scale_, bias_;  // one row of the output: width x channels
  std::vector<uint8_t> mean_;        // per channel, rounded
};

}  // namespace radl::engine::data

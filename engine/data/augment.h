// Augmentation and normalisation: one stored image in, one fp32 image out.
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
    Alternate,  // half of the images (by seed and index) in even epochs, the other half in odd ones
  };
  enum class Padding { Zero, Reflect };  // what a translation shows beyond the edge; Zero is the channel mean
  Flip flip = Flip::None;
  int translate = 0;  // pixels: shift by -n..n in both directions
  Padding padding = Padding::Reflect;
  int cutout = 0;       // side of one square set to the channel mean, centre anywhere in the image
  float crop_area = 1;  // below 1: random resized crop with this smallest share of the area (aspect 3/4..4/3)
  float brightness = 0;  // factor 1 +- b
  float contrast = 0;    // factor 1 +- c about the image's mean
  float saturation = 0;  // factor 1 +- s about the pixel's grey (three channels only)

  bool any() const;
};

// Turns stored images into network input of the same size. Thread-safe after construction when every thread
// has its own Scratch.
class Transform {
 public:
  struct Scratch {
    std::vector<uint8_t> stored, staged, resized;
  };

  Transform(InputShape shape, Augment augment, Normalization normalization);
  // Whether these sizes and settings fit each other.
  static Status check(InputShape shape, const Augment& augment, const Normalization& n);

  // Training: random by (seed, epoch, index).
  void train(const uint8_t* stored, uint64_t seed, uint64_t epoch, uint64_t index, Scratch& scratch,
             std::span<float> out) const;
  // Evaluation: as it is, optionally mirrored and shifted (test-time augmentation).
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

// Predictions for images of any size and format, used by `predict` and `serve`.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/status.h"
#include "engine/data/augment.h"
#include "engine/data/image.h"
#include "engine/export/bundle.h"
#include "engine/model/network.h"

namespace radl::engine::serve {

struct Prediction {
  std::vector<float> probabilities;  // per class
  int best = 0;
};

// Not thread-safe: it owns one network.
class Predictor {
 public:
  // `flip`: averages the logits with those of the mirrored image (test-time augmentation).
  static Result<std::unique_ptr<Predictor>> create(const exporter::Bundle& bundle,
                                                   const BuildOptions& options, bool flip = false);

  // Converts PNG or JPEG bytes to the network's input (scaled, center-cropped). Corrupt explains the error.
  // Uses the network's channels instead of the limits'.
  Result<std::vector<uint8_t>> decode(std::string_view bytes, data::DecodeLimits limits = {}) const;
  // Images as returned by decode(), at most batch_size() of them.
  std::vector<Prediction> predict(std::span<const std::vector<uint8_t>> images);

  const exporter::Bundle& bundle() const { return bundle_; }
  int batch_size() const { return batch_size_; }

 private:
  Predictor(exporter::Bundle bundle, std::unique_ptr<Network> network, int batch_size, bool flip);

  exporter::Bundle bundle_;
  std::unique_ptr<Network> network_;
  int batch_size_;
  bool flip_;
  data::Transform transform_;
  data::Transform::Scratch scratch_;
  std::vector<float> images_, logits_, mirrored_;
};

}  // namespace radl::engine::serve

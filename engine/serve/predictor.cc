#include "engine/serve/predictor.h"

#include <algorithm>
#include <cmath>

#include "engine/model/graph.h"

namespace radl::engine::serve {

Predictor::Predictor(exporter::Bundle bundle, std::unique_ptr<Network> network, int batch_size, bool flip)
    : bundle_(std::move(bundle)),
      network_(std::move(network)),
      batch_size_(batch_size),
      flip_(flip),
      transform_(bundle_.input, {}, {bundle_.mean, bundle_.deviation}),
      images_(size_t(batch_size) * data::pixel_count(bundle_.input)),
      logits_(size_t(batch_size) * size_t(bundle_.classes)),
      mirrored_(flip ? logits_.size() : 0) {}

Result<std::unique_ptr<Predictor>> Predictor::create(const exporter::Bundle& bundle,
                                                     const BuildOptions& options, bool flip) {
  BuildOptions o = options;
  o.training = false;
  if (bundle.input.channels != 1 && bundle.input.channels != 3) {
    return Status(Code::Unsupported, bundle.folder + ": the model takes images of " +
                                         std::to_string(bundle.input.channels) +
                                         " channels; PNG and JPEG have 1 or 3");
  }
  if (Status s = data::Transform::check(bundle.input, {}, {bundle.mean, bundle.deviation}); !s.ok()) return s;
  auto network = exporter::load_network(bundle, o);
  if (!network.ok()) return network.status();
  if (Status images = takes_images((*network)->graph()); !images.ok())
    return std::move(images).at(bundle.folder);
  return std::unique_ptr<Predictor>(new Predictor(bundle, std::move(*network), o.batch_size, flip));
}

Result<std::vector<uint8_t>> Predictor::decode(std::string_view bytes, data::DecodeLimits limits) const {
  const InputShape& in = bundle_.input;
  limits.channels = in.channels;
  auto image = data::decode_image(bytes, limits);
  if (!image.ok()) return image.status();
  return data::fit_image(*image, in.height, in.width).pixels;
}

std::vector<Prediction> Predictor::predict(std::span<const std::vector<uint8_t>> images) {
  assert(int(images.size()) <= batch_size_);
  const size_t pixels = data::pixel_count(bundle_.input), classes = size_t(bundle_.classes),
               n = images.size();
  auto run = [&](bool mirror, std::vector<float>& logits) {
    for (size_t i = 0; i < n; ++i) {
      assert(images[i].size() == pixels);
      transform_.evaluate(images[i].data(), scratch_, {images_.data() + i * pixels, pixels}, mirror);
    }
    network_->evaluate({{images_.data(), n * pixels}, {}, int(n)}, {logits.data(), n * classes});
  };
  run(false, logits_);
  if (flip_) {
    run(true, mirrored_);
    for (size_t i = 0; i < n * classes; ++i) logits_[i] = (logits_[i] + mirrored_[i]) / 2;
  }
  std::vector<Prediction> all(n);
  for (size_t i = 0; i < n; ++i) {
    const float* row = logits_.data() + i * classes;
    Prediction& p = all[i];
    p.best = int(std::max_element(row, row + classes) - row);
    p.probabilities.resize(classes);
    double sum = 0;
    for (size_t c = 0; c < classes; ++c) sum += std::exp(double(row[c]) - double(row[p.best]));
    for (size_t c = 0; c < classes; ++c)
      p.probabilities[c] = float(std::exp(double(row[c]) - double(row[p.best])) / sum);
  }
  return all;
}

}  // namespace radl::engine::serve

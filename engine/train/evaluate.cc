#include "engine/train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "engine/model/graph.h"

namespace radl::engine {
namespace {

// Cross-entropy of one row of logits, the class with the largest, and that one's probability.
double row_loss(std::span<const float> logits, int32_t label, int& best, double& probability) {
  double most = *std::max_element(logits.begin(), logits.end()), sum = 0;
  best = static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  for (float v : logits) sum += std::exp(static_cast<double>(v) - most);
  probability = 1 / sum;
  return std::log(sum) + most - static_cast<double>(logits[static_cast<size_t>(label)]);
}

class Evaluator {
 public:
  Evaluator(Network& network, const data::Dataset& dataset, const data::Normalization& normalization,
            const EvaluateOptions& options)
      : network_(network),
        dataset_(dataset),
        options_(options),
        transform_(dataset.shape(), data::Augment(), normalization),
        pixels_(data::pixel_count(dataset.shape())),
        classes_(static_cast<size_t>(network.classes())),
        views_(views_of(options)) {
    size_t batch = static_cast<size_t>(options.batch_size);
    images_.resize(batch * pixels_);
    logits_.resize(batch * classes_);
    if (views_.size() > 1) {
      stored_.resize(batch * pixels_);
      view_logits_.resize(batch * classes_);
      mean_logits_.resize(batch * classes_);
    }
    out_.confusion.resize(classes_ * classes_);
  }

  Result<Evaluation> run() {
    size_t batch = static_cast<size_t>(options_.batch_size);
    for (size_t first = 0; first < dataset_.size(); first += batch) {
      if (options_.stop.asked()) return Status(Code::Cancelled, "interrupted");
      if (Status loaded = load(first, std::min(batch, dataset_.size() - first)); !loaded.ok()) return loaded;
      if (labels_.empty()) continue;
      forward();
      count();
    }
    if (out_.images == 0) return Status(Code::Corrupt, "there are no images to evaluate");
    double n = static_cast<double>(out_.images);
    out_.loss /= n;
    out_.accuracy = static_cast<double>(correct_) / n;
    out_.accuracy_tta = static_cast<double>(correct_tta_) / n;
    std::sort(out_.mistakes.begin(), out_.mistakes.end(), surer);
    return out_;
  }

 private:
  // A way to look at an image, and its share of the sum.
  struct View {
    bool mirror = false;
    int shift = 0;
    float share = 1;
  };
  // The first is the image as it is; alone when nothing else is asked for.
  static std::vector<View> views_of(const EvaluateOptions& options) {
    std::vector<View> out;
    for (bool mirror : {false, true}) {
      if (mirror && !options.flip) break;
      const float side = options.flip ? 0.5f : 1.0f;
      out.push_back({mirror, 0, options.translate > 0 ? side / 2 : side});
      if (options.translate == 0) continue;
      for (int shift : {-options.translate, options.translate}) out.push_back({mirror, shift, side / 4});
    }
    return out;
  }

  Status load(size_t first, size_t count) {
    labels_.clear();
    indices_.clear();
    one_.resize(pixels_);
    for (size_t i = first; i < first + count; ++i) {
      const uint8_t* image = dataset_.pixels(i);
      if (image == nullptr) {
        if (Status read = dataset_.read(i, one_); !read.ok()) {
          if (!options_.skip_corrupt || read.code() != Code::Corrupt) return read;
          ++out_.skipped;
          continue;
        }
        image = one_.data();
      }
      size_t at = labels_.size() * pixels_;
      transform_.evaluate(image, scratch_, std::span(images_).subspan(at, pixels_));
      if (views_.size() > 1) std::copy_n(image, pixels_, stored_.begin() + static_cast<long>(at));
      labels_.push_back(dataset_.label(i));
      indices_.push_back(i);
    }
    return {};
  }

  void forward() {
    int n = static_cast<int>(labels_.size());
    size_t pixels = labels_.size() * pixels_, logits = labels_.size() * classes_;
    network_.evaluate({std::span<const float>(images_).first(pixels), labels_, n},
                      std::span(logits_).first(logits));
    if (views_.size() == 1) return;
    for (size_t i = 0; i < logits; ++i) mean_logits_[i] = views_[0].share * logits_[i];
    for (size_t v = 1; v < views_.size(); ++v) {
      const View& view = views_[v];
      for (size_t at = 0; at < pixels; at += pixels_)
        transform_.evaluate(stored_.data() + at, scratch_, std::span(images_).subspan(at, pixels_),
                            view.mirror, view.shift, view.shift);
      network_.evaluate({std::span<const float>(images_).first(pixels), labels_, n},
                        std::span(view_logits_).first(logits));
      for (size_t i = 0; i < logits; ++i) mean_logits_[i] += view.share * view_logits_[i];
    }
  }

  void count() {
    for (size_t i = 0; i < labels_.size(); ++i) {
      std::span<float> row = std::span(logits_).subspan(i * classes_, classes_);
      int best = 0;
      double probability = 0;
      out_.loss += row_loss(row, labels_[i], best, probability);
      if (best != labels_[i]) mistaken({indices_[i], labels_[i], best, static_cast<float>(probability)});
      correct_ += best == labels_[i];
      ++out_.confusion[static_cast<size_t>(labels_[i]) * classes_ + static_cast<size_t>(best)];
      ++out_.images;
      if (views_.size() == 1) continue;
      row = std::span(mean_logits_).subspan(i * classes_, classes_);
      correct_tta_ += std::max_element(row.begin(), row.end()) - row.begin() == labels_[i];
    }
  }

  static bool surer(const Mistake& a, const Mistake& b) {
    return a.probability != b.probability ? a.probability > b.probability : a.index < b.index;
  }

  // Keeps the surest: a heap with the least sure one on top.
  void mistaken(const Mistake& m) {
    std::vector<Mistake>& kept = out_.mistakes;
    if (options_.mistakes == 0 || !std::isfinite(m.probability)) return;
    if (kept.size() == options_.mistakes) {
      if (!surer(m, kept.front())) return;
      std::pop_heap(kept.begin(), kept.end(), surer);
      kept.pop_back();
    }
    kept.push_back(m);
    std::push_heap(kept.begin(), kept.end(), surer);
  }

  Network& network_;
  const data::Dataset& dataset_;
  const EvaluateOptions& options_;
  data::Transform transform_;
  data::Transform::Scratch scratch_;
  size_t pixels_, classes_;
  std::vector<View> views_;
  std::vector<float> images_, logits_, view_logits_, mean_logits_;
  std::vector<uint8_t> one_, stored_;  // an image; those of the batch
  std::vector<int32_t> labels_;
  std::vector<size_t> indices_;
  uint64_t correct_ = 0, correct_tta_ = 0;
  Evaluation out_;
};

}  // namespace

Result<Evaluation> evaluate(Network& network, const data::Dataset& dataset,
                            const data::Normalization& normalization, const EvaluateOptions& options) {
  if (Status images = takes_images(network.graph()); !images.ok()) return images;
  return Evaluator(network, dataset, normalization, options).run();
}

}  // namespace radl::engine
